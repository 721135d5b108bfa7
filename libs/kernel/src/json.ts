const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/** JSON text that goes into an answer unchanged. */
export class RawJson {
  constructor(readonly text: string) {}
}

/**
 * The JSON text of an object whose members may be {@link RawJson}, which keeps its big numbers, key
 * order and repeated keys. Undefined members are omitted.
 */
export function jsonText(object: object): string {
  const members: string[] = [];
  for (const [name, value] of Object.entries(object) as [string, unknown][]) {
    if (value === undefined) continue;
    const text = value instanceof RawJson ? value.text : JSON.stringify(value);
    members.push(`${JSON.stringify(name)}:${text}`);
  }
  return `{${members.join(',')}}`;
}

/**
 * The raw text of the member `name` of a JSON object, the last one if repeated: big numbers, key order,
 * repeated keys and escapes stay as they were written. The text must have passed `JSON.parse`.
 */
export function rawMember(json: string, name: string): string | undefined {
  return rawMembers(json).get(name);
}

/** The raw texts of the elements of a JSON array, which must have passed `JSON.parse`. */
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

/**
 * The raw texts of the members of a JSON object by their names, the last one of a repeated name. The text must have
 * passed `JSON.parse`.
 */
export function rawMembers(json: string): Map<string, string> {
  const members = new Map<string, string>();
  const cursor = new MemberCursor(json);
  for (let at = skipBlanks(json, 0) + 1; cursor.next(at);) {
    at = valueEnd(json, cursor.start);
    members.set(cursor.name, json.slice(cursor.start, at));
  }
  return members;
}

/** Walks through members of objects in a JSON text, which must have passed `JSON.parse`. */
export class MemberCursor {
  /** The name of the member, and where its value begins. */
  name = '';
  start = 0;

  constructor(private readonly json: string) {}

  /**
   * Moves to the next member of an object.
   * @param from behind the opening brace, or behind the value of the member before
   * @returns false at the end of the object; then, `start` is behind it
   */
  next(from: number): boolean {
    const { json } = this;
    let at = skipBlanks(json, from);
    while (json.charCodeAt(at) === COMMA) at = skipBlanks(json, at + 1);
    if (json.charCodeAt(at) === CLOSE_BRACE) {
      this.start = at + 1;
      return false;
    }
    const end = stringEnd(json, at);
    const written = json.slice(at + 1, end - 1);
    // Names can contain escapes: {"\u0064ata": …} has a member "data".
    this.name = written.includes('\\') ? (JSON.parse(json.slice(at, end)) as string) : written;
    at = skipBlanks(json, end);
    this.start = json.charCodeAt(at) === COLON ? skipBlanks(json, at + 1) : at;
    return true;
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
function stringEnd(json: string, from: number): number {
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
export function valueEnd(json: string, from: number): number {
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
  while (at < json.length && !endsPrimitive(json.charCodeAt(at))) at += 1;
  return at;
}

/** Whether a character ends a number or a word. All blanks of JSON come before the comma. */
function endsPrimitive(code: number): boolean {
  return code <= 0x20 || code === COMMA || code === CLOSE_BRACE || code === CLOSE_BRACKET;
}
