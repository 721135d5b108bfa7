import { isAscii } from 'node:buffer';
import { JsonScanner, JsonSyntaxError, PIECE } from './json-scanner.js';
import { atOnce } from './time-slices.js';

const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/** For how many bytes a member or an element counts that the caller reads, because that takes longer. */
const ITEM = 128;
/** How many unknown members are returned: more than are reported. */
const MOST_OTHERS = 40;
/** A text of at most so many bytes is decoded at once: each decoding of a part costs as much. */
const SHORT = 4 << 10;
/** The longest text of a name whose escapes are resolved. Of a longer one, only the beginning is returned. */
const MAX_NAME = 1_024;

/** A value in a text, from its first byte to the byte after it. */
export interface JsonPart {
  start: number;
  end: number;
}

/** Members of an object by name, and how many levels of objects and arrays it has, itself included. */
export interface JsonMembers {
  parts: Map<string, JsonPart>;
  levels: number;
}

/**
 * Checks JSON text and finds values in it. Its generators pause about every tenth of a millisecond. Nothing is parsed:
 * for objects with many members, that takes ten times as long, without a pause.
 *
 * They throw a {@link JsonSyntaxError} or a {@link TooManyValuesError}. Callers' generators should be no closures: V8 keeps
 * what these refer to until a full garbage collection.
 */
export class JsonReader {
  private readonly scanner: JsonScanner;
  /** The whole text if it is short and its characters are bytes. */
  private readonly text: string | undefined;
  /** Where the caller has read so many members or elements that it pauses. */
  private pauseAt = 0;

  /**
   * @param bytes UTF-8
   * @param start where the text begins
   * @param mostValues members and elements at every depth; an empty object or array counts as two
   * @param mostLevels levels of objects and arrays that are not too deep, the outermost object included
   */
  constructor(
    private readonly bytes: Buffer,
    start = 0,
    mostValues = Infinity,
    mostLevels = Infinity,
  ) {
    this.scanner = new JsonScanner(bytes, start, mostValues, mostLevels - 1);
    if (bytes.length <= SHORT && isAscii(bytes)) this.text = bytes.toString('latin1');
  }

  /** The first byte that was too deep in a member of the outermost object. */
  get tooDeepAt(): number | undefined {
    return this.scanner.tooDeepAt;
  }

  /** Whether the next value is an object. */
  *isObject(): Generator<void, boolean> {
    while (this.scanner.hasBlanks()) yield;
    return this.scanner.byte === OPEN_BRACE;
  }

  /** Whether the next value is an array. */
  *isArray(): Generator<void, boolean> {
    while (this.scanner.hasBlanks()) yield;
    return this.scanner.byte === OPEN_BRACKET;
  }

  /**
   * Reads the next value, which {@link isObject}. Of a repeated member, the last one counts.
   * @param known the members that are returned; of others, only the first few
   * @param enter may return a generator that reads the value of the member with this name; its levels are not counted
   */
  *members(
    known: Pick<ReadonlySet<string>, 'has'>,
    enter: (name: string) => Generator<void> | undefined = () => undefined,
  ): Generator<void, JsonMembers> {
    const { scanner } = this;
    const parts = new Map<string, JsonPart>();
    let levels = 0;
    scanner.pass();
    while (scanner.hasBlanks()) yield;
    for (let isFirst = true; !this.closes(CLOSE_BRACE, isFirst); isFirst = false) {
      while (scanner.hasBlanks()) yield;
      const nameStart = scanner.at;
      scanner.begin('name');
      while (!scanner.readPiece()) yield;
      const name = this.nameOf(nameStart, scanner.at);
      while (scanner.hasBlanks()) yield;
      if (scanner.byte !== COLON) throw new JsonSyntaxError(scanner.at);
      scanner.at += 1;
      while (scanner.hasBlanks()) yield;
      const start = scanner.at;
      const entered = enter(name);
      if (entered) yield* entered;
      else {
        scanner.begin('value');
        while (!scanner.readPiece()) yield;
        levels = Math.max(levels, scanner.levels);
      }
      if (known.has(name) || parts.size < MOST_OTHERS) parts.set(name, { start, end: scanner.at });
      while (scanner.hasBlanks()) yield;
      if (this.isPieceRead()) yield;
    }
    return { parts, levels: levels + 1 };
  }

  /** Begins with the next value, which {@link isArray}. */
  beginArray(): void {
    this.scanner.pass();
  }

  /** Whether the array has another element, which has to be read next. @param count of those that were read */
  *hasElement(count: number): Generator<void, boolean> {
    while (this.scanner.hasBlanks()) yield;
    if (this.isPieceRead()) yield;
    return !this.closes(CLOSE_BRACKET, count === 0);
  }

  /** Passes over the next value. @returns how many levels of objects and arrays it has */
  *value(): Generator<void, number> {
    this.scanner.begin('value');
    while (!this.scanner.readPiece()) yield;
    return this.scanner.levels;
  }

  /** Requires that nothing follows. */
  *end(): Generator<void> {
    while (this.scanner.hasBlanks()) yield;
    if (this.scanner.byte !== undefined) throw new JsonSyntaxError(this.scanner.at);
  }

  textOf({ start, end }: JsonPart): string {
    return this.text?.slice(start, end) ?? this.bytes.toString('utf8', start, end);
  }

  /** Whether a value is an object. */
  opensObject({ start }: JsonPart): boolean {
    return this.bytes[start] === OPEN_BRACE;
  }

  /** Passes over the bracket that ends an object or array, or over the comma. @returns whether it was the bracket */
  private closes(bracket: number, isFirst: boolean): boolean {
    const { scanner } = this;
    if (scanner.byte === bracket) {
      scanner.at += 1;
      return true;
    }
    if (isFirst) return false;
    if (scanner.byte !== COMMA) throw new JsonSyntaxError(scanner.at);
    scanner.pass();
    return false;
  }

  private isPieceRead(): boolean {
    this.pauseAt -= ITEM;
    if (this.scanner.at < this.pauseAt) return false;
    this.pauseAt = this.scanner.at + PIECE;
    return true;
  }

  private nameOf(start: number, end: number): string {
    if (end - start > MAX_NAME) return this.textOf({ start: start + 1, end: start + MAX_NAME });
    const text = this.textOf({ start, end });
    return stringIn(text);
  }
}

/** The value of a JSON string. @param text valid, with its quotes */
export function stringIn(text: string): string {
  return text.includes('\\') ? (JSON.parse(text) as string) : text.slice(1, -1);
}

/**
 * The index of the first character or token at which a text stops being JSON (RFC 8259); its length if it ends
 * too early. For texts that `JSON.parse` has refused, because its messages do not always give the position.
 */
export function jsonErrorAt(text: string): number {
  const bytes = Buffer.from(text);
  const json = new JsonReader(bytes);
  try {
    atOnce(json.value());
    atOnce(json.end());
    return text.length;
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    return bytes.toString('utf8', 0, error.at).length;
  }
}
