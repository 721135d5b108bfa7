import type { Steps } from '#libs/kernel';

const CONTROLS: Record<string, string> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };
/** How many characters are decoded between pauses: about a tenth of a millisecond if they are escapes alone. */
const STEP = 512;

/**
 * Whether JSON contains a text once the escapes of its strings are decoded, such as `\u002b` for `+`. Outside of strings,
 * JSON has no backslash.
 */
export function* containsDecoded(json: string, text: string): Steps<boolean> {
  let decoded = '';
  for (let at = 0; at < json.length;) {
    const end = at + STEP;
    while (at < end && at < json.length) {
      const escape = json.indexOf('\\', at);
      const next = escape === -1 ? json.length : escape;
      decoded += json.slice(at, next);
      const [character, length] = decodedAt(json, next);
      decoded += character;
      at = next + length;
    }
    if (decoded.includes(text)) return true;
    decoded = decoded.slice(-text.length);
    yield;
  }
  return false;
}

/** The character of an escape, and the length of that; nothing at the end of the JSON. */
function decodedAt(json: string, at: number): [string, number] {
  const letter = json[at + 1] ?? '';
  if (letter !== 'u') return [CONTROLS[letter] ?? letter, 2];
  return [String.fromCharCode(Number.parseInt(json.slice(at + 2, at + 6), 16)), 6];
}
