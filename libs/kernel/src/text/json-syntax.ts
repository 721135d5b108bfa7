const BLANKS = /[\t\n\r ]*/y;
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})|/y;
const SCALAR = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[Ee][+-]?\d+)?|/y;

/**
 * The index of the first character or token at which a text stops being JSON (RFC 8259); its length if it ends
 * too early. It is for texts that `JSON.parse` has refused, because its messages do not always say where.
 */
export function jsonErrorAt(text: string): number {
  const closers: string[] = [];
  let wanted: 'value' | 'value or ]' | 'name' | 'name or }' | ':' | ',' = 'value';
  for (let at = past(BLANKS, text, 0); at < text.length; at = past(BLANKS, text, at)) {
    const character = text.charAt(at);
    if (wanted === ':') {
      if (character !== ':') return at;
      wanted = 'value';
      at += 1;
    } else if (character === closers.at(-1) && (wanted === ',' || wanted.endsWith(character))) {
      closers.pop();
      wanted = ',';
      at += 1;
    } else if (wanted === ',') {
      if (character !== ',' || closers.length === 0) return at;
      wanted = closers.at(-1) === '}' ? 'name' : 'value';
      at += 1;
    } else if (character === '"') {
      at = pastCharacters(text, at + 1);
      if (text.charAt(at) !== '"') return at;
      wanted = wanted.startsWith('name') ? ':' : ',';
      at += 1;
    } else if (wanted.startsWith('name')) {
      return at;
    } else if (character === '{' || character === '[') {
      closers.push(character === '{' ? '}' : ']');
      wanted = character === '{' ? 'name or }' : 'value or ]';
      at += 1;
    } else {
      const end = past(SCALAR, text, at);
      if (end === at) return at;
      wanted = ',';
      at = end;
    }
  }
  return text.length;
}

/** The index after the characters of a string: of its closing quote, or of what must not be there. */
function pastCharacters(text: string, from: number): number {
  let at = past(PLAIN, text, from);
  for (let end = past(ESCAPE, text, at); end > at; end = past(ESCAPE, text, at)) {
    at = past(PLAIN, text, end);
  }
  return at;
}

/** The index after what a sticky expression matches, which may be nothing. */
function past(expression: RegExp, text: string, from: number): number {
  expression.lastIndex = from;
  expression.test(text);
  return expression.lastIndex;
}
