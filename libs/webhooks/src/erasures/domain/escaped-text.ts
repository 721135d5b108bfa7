/** An escape in a JSON string. Outside of strings, JSON has no backslash. */
const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|(.))/g;
const CONTROLS: Record<string, string> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/** Whether JSON contains a text once the escapes of its strings are decoded, such as `\u002b` for `+`. */
export function containsDecoded(json: string, text: string): boolean {
  const decoded = json.replace(ESCAPE, (_, code: string | undefined, letter = '') =>
    code === undefined
      ? (CONTROLS[letter as string] ?? (letter as string))
      : String.fromCharCode(Number.parseInt(code, 16)),
  );
  return decoded.includes(text);
}
