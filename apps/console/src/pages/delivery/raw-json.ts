/**
 * The members of a JSON object, each as its text. Parsing would round large numbers, reorder keys and drop
 * repeated ones.
 * @throws SyntaxError if the text is not an object
 */
export function rawMembers(text: string): Map<string, string> {
  const members = new Map<string, string>();
  let at = skipBlanks(text, 0);
  if (text[at] !== '{') throw new SyntaxError('not a JSON object');
  at = skipBlanks(text, at + 1);
  while (text[at] === '"') {
    const nameEnd = endOfString(text, at);
    const name = JSON.parse(text.slice(at, nameEnd)) as string;
    const start = skipBlanks(text, skipBlanks(text, nameEnd) + 1);
    const end = endOfValue(text, start);
    members.set(name, text.slice(start, end).trimEnd());
    at = text[end] === ',' ? skipBlanks(text, end + 1) : end;
  }
  if (text[at] !== '}') throw new SyntaxError('not a JSON object');
  return members;
}

function skipBlanks(text: string, at: number): number {
  let next = at;
  while (' \t\r\n'.includes(text[next] ?? '?')) next += 1;
  return next;
}

/**
 * @param at of the opening quote
 */
function endOfString(text: string, at: number): number {
  let end = at + 1;
  while (end < text.length && text[end] !== '"') end += text[end] === '\\' ? 2 : 1;
  return end + 1;
}

/** The index of the comma or brace after a value. */
function endOfValue(text: string, start: number): number {
  let depth = 0;
  let at = start;
  while (at < text.length) {
    const char = text[at] ?? '';
    if (char === '"') {
      at = endOfString(text, at);
      continue;
    }
    if (depth === 0 && (char === ',' || char === '}')) return at;
    if (char === '{' || char === '[') depth += 1;
    if (char === '}' || char === ']') depth -= 1;
    at += 1;
  }
  return at;
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
