/**
 * Extracts the raw text of members from a JSON text, so that it can be stored and forwarded as it was
 * written: big numbers, key order, repeated keys and escapes stay unchanged.
 *
 * The text must have passed `JSON.parse`; the scanner relies on that and checks nothing.
 */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/** The raw text of the member `name` of a JSON object; the last one if repeated. */
export function rawMember(json: string, name: string): string | undefined {
  let found: string | undefined;
  eachMember(json, skipBlanks(json, 0), (key, start, end) => {
    if (key === name) found = json.slice(start, end);
  });
  return found;
}

/** The raw texts of the elements of a JSON array. */
export function rawElements(json: string): string[] {
  const elements: string[] = [];
  let at = skipBlanks(json, 0) + 1;
  for (;;) {
    at = skipBlanks(json, at);
    const code = json.charCodeAt(at);
    if (code === CLOSE_BRACKET) return elements;
    if (code === COMMA) {
      at += 1;
      continue;
    }
    const end = valueEnd(json, at);
    elements.push(json.slice(at, end));
    at = end;
  }
}

function eachMember(
  json: string,
  open: number,
  visit: (key: string, start: number, end: number) => void,
): void {
  let at = open + 1;
  for (;;) {
    at = skipBlanks(json, at);
    const code = json.charCodeAt(at);
    if (code === CLOSE_BRACE) return;
    if (code === COMMA) {
      at += 1;
      continue;
    }
    const keyEnd = stringEnd(json, at);
    const written = json.slice(at, keyEnd);
    // Names can contain escapes: {"\u0064ata": …} has a member "data".
    const key = written.includes('\\') ? (JSON.parse(written) as string) : written.slice(1, -1);
    at = skipBlanks(json, keyEnd);
    if (json.charCodeAt(at) === COLON) at = skipBlanks(json, at + 1);
    const end = valueEnd(json, at);
    visit(key, at, end);
    at = end;
  }
}

function skipBlanks(json: string, from: number): number {
  let at = from;
  for (;;) {
    const code = json.charCodeAt(at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at;
    at += 1;
  }
}

/** The index after the string whose opening quote is at `from`; the text's length if it does not end. */
export function stringEnd(json: string, from: number): number {
  let at = json.indexOf('"', from + 1);
  for (;;) {
    if (at < 0) return json.length;
    let backslashes = 0;
    while (json.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return at + 1;
    at = json.indexOf('"', at + 1);
  }
}

/** The index after the value that starts at `from`. */
function valueEnd(json: string, from: number): number {
  const first = json.charCodeAt(from);
  if (first === QUOTE) return stringEnd(json, from);
  let at = from;
  if (first === OPEN_BRACE || first === OPEN_BRACKET) {
    let depth = 0;
    for (;;) {
      const code = json.charCodeAt(at);
      if (code === QUOTE) {
        at = stringEnd(json, at);
        continue;
      }
      at += 1;
      if (code === OPEN_BRACE || code === OPEN_BRACKET) depth += 1;
      else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
        depth -= 1;
        if (depth === 0) return at;
      }
    }
  }
  while (at < json.length && !/[,\]}\s]/.test(json.charAt(at))) at += 1;
  return at;
}
