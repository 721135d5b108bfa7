import { MemberCursor, type Steps, valueEnd } from '#libs/kernel';
import { JsonValue } from './filter-condition.js';

const OPEN_BRACE = 0x7b;
/** Names in a path. */
export const MAX_NAMES = 5;
/** Members that are read between two pauses: fewer than take a tenth of a millisecond. */
const MEMBERS_AT_ONCE = 64;

/** The names in a path, which are joined by dots; `\.` is a dot in a name. */
function namesOf(path: string): string[] {
  return path.split(/(?<!\\)\./).map((name) => name.replaceAll('\\.', '.'));
}

/** Whether a text is a path of names that are not empty. */
export function isPath(path: string): boolean {
  const names = namesOf(path);
  return names.length <= MAX_NAMES && !names.includes('');
}

/** {@link isPath} as a regular expression. */
export const PATH_PATTERN = `^(?:[^.\\\\]|\\\\\\.|\\\\)+(?:\\.(?:[^.\\\\]|\\\\\\.|\\\\)+){0,${MAX_NAMES - 1}}$`;

/** The names of members to find in an object, each with those to find inside it. */
class Names extends Map<string, Names> {}

/** The members that were found in an object. */
type Members = ReadonlyMap<string, Found>;

/** A member, from its first character to the one behind it. */
interface Found {
  start: number;
  end: number;
  inside: Members;
  /** Made once, however many paths lead here. */
  value?: JsonValue;
}

const NONE: Members = new Map();

/** Finds the values at several paths of JSON objects. */
export class PathScan {
  /** Where each value may be: at the first of these paths that an object has. */
  private readonly paths: readonly (readonly (readonly string[])[])[];
  private readonly names = new Names();

  /** @param paths see {@link namesOf} */
  constructor(paths: readonly string[]) {
    this.paths = paths.map((path) => {
      const names = namesOf(path);
      // A member can also have dots in its name.
      return names.length > 1 ? [[path], names] : [names];
    });
    for (const path of this.paths.flat()) path.reduce(insideOf, this.names);
  }

  /**
   * The values by the positions of their paths; absent if an object has no such member. Of a repeated member the last
   * one counts. Reads the text once, however many paths and members there are.
   * @param json must have passed `JSON.parse`
   */
  *valuesIn(json: string): Steps<(JsonValue | undefined)[]> {
    const isObject = json.charCodeAt(0) === OPEN_BRACE;
    const members = isObject ? yield* new MemberScan(json).membersFrom(0, this.names) : NONE;
    return this.paths.map((paths) => {
      for (const path of paths) {
        const found = foundAt(members, path);
        if (found) return (found.value ??= new JsonValue(json.slice(found.start, found.end)));
      }
      return undefined;
    });
  }
}

function insideOf(names: Names, name: string): Names {
  const inside = names.get(name) ?? new Names();
  names.set(name, inside);
  return inside;
}

/** Finds members in one JSON text. */
class MemberScan {
  private readonly cursor: MemberCursor;
  private count = 0;

  constructor(private readonly json: string) {
    this.cursor = new MemberCursor(json);
  }

  /** Reads the object that starts here. Then, the cursor is behind it. */
  *membersFrom(start: number, names: Names): Steps<Members> {
    const { json, cursor } = this;
    const found = new Map<string, Found>();
    for (let at = start + 1; cursor.next(at); this.count += 1) {
      if (this.count % MEMBERS_AT_ONCE === 0) yield;
      const { name, start: from } = cursor;
      const wanted = names.get(name);
      const isRead = wanted && wanted.size > 0 && json.charCodeAt(from) === OPEN_BRACE;
      const inside = isRead ? yield* this.membersFrom(from, wanted) : NONE;
      at = isRead ? cursor.start : valueEnd(json, from);
      if (wanted) found.set(name, { start: from, end: at, inside });
    }
    return found;
  }
}

function foundAt(members: Members, path: readonly string[]): Found | undefined {
  let found: Found | undefined;
  let inside = members;
  for (const name of path) {
    found = inside.get(name);
    inside = found?.inside ?? NONE;
  }
  return found;
}
