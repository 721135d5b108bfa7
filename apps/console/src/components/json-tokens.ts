/** A piece of formatted JSON. */
export interface JsonToken {
  kind: 'name' | 'string' | 'number' | 'word' | 'mark' | 'blank';
  text: string;
}

const PIECE = /\s+|"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null|[{}[\],:]/gy;
const STEP = '  ';

/**
 * JSON with one member or element a line, its numbers and strings as they are in the text; undefined if the
 * text is no JSON.
 */
export function formattedJson(text: string): JsonToken[] | undefined {
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  const pieces = (text.match(PIECE) ?? []).filter((piece) => piece.trim() !== '');
  const tokens: JsonToken[] = [];
  let depth = 0;
  const breakLine = () => tokens.push({ kind: 'blank', text: `\n${STEP.repeat(depth)}` });
  pieces.forEach((piece, index) => {
    const [before, after] = [pieces[index - 1] ?? '', pieces[index + 1] ?? ''];
    if (piece === '}' || piece === ']') {
      depth -= 1;
      if (before !== '{' && before !== '[') breakLine();
    }
    tokens.push({ kind: kindOf(piece, after), text: piece });
    if (piece === ':') tokens.push({ kind: 'blank', text: ' ' });
    if (piece === '{' || piece === '[') {
      depth += 1;
      if (after !== '}' && after !== ']') breakLine();
    }
    if (piece === ',') breakLine();
  });
  return tokens;
}

function kindOf(piece: string, after: string): JsonToken['kind'] {
  if (piece.startsWith('"')) return after === ':' ? 'name' : 'string';
  if (/^[-\d]/.test(piece)) return 'number';
  return /^[a-z]/.test(piece) ? 'word' : 'mark';
}
