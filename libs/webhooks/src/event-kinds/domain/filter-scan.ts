import { MemberCursor, type Steps, valueEnd } from '#libs/kernel';
import { JsonValue } from './filter-condition.js';

/** A name in a path: what to look for in the objects that have it, and the paths that end here. */
interface Step {
  /** The position of the step that contains this one. */
  outer: number;
  inside: Map<string, number> | undefined;
  ends: number[];
  /** Paths with dots that are the name of one member. */
  endsOfNames: number[];
}

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

/** Finds the values at several paths of JSON objects. */
export class PathScan {
  /** Each step comes after the one that contains it. The first one is the whole object. */
  private readonly steps: Step[] = [newStep(0)];

  /** @param paths see {@link namesOf} */
  constructor(private readonly paths: readonly string[]) {
    paths.forEach((path, index) => {
      const names = namesOf(path);
      const last = names.reduce((step, name) => this.stepInto(step, name), 0);
      this.steps[last]!.ends.push(index);
      // A member can also have dots in its name.
      if (names.length > 1) this.steps[this.stepInto(0, path)]!.endsOfNames.push(index);
    });
  }

  private stepInto(outer: number, name: string): number {
    const step = this.steps[outer]!;
    step.inside ??= new Map();
    const known = step.inside.get(name);
    if (known !== undefined) return known;
    step.inside.set(name, this.steps.length);
    return this.steps.push(newStep(outer)) - 1;
  }

  /**
   * The values by the positions of their paths; absent if an object has no such member. Of a repeated member the last
   * one counts. Reads the text once, however many paths and members there are.
   * @param json must have passed `JSON.parse`
   */
  *valuesIn(json: string): Steps<(JsonValue | undefined)[]> {
    const found = new Members(json, this.steps.length);
    const cursor = new MemberCursor(json);
    const path = json.charCodeAt(0) === OPEN_BRACE ? [0] : [];
    for (let at = 1, members = 1; path.length > 0; members += 1) {
      if (members % MEMBERS_AT_ONCE === 0) yield;
      const outer = path.at(-1)!;
      if (!cursor.next(at)) {
        at = cursor.start;
        found.end(outer, at);
        path.pop();
        continue;
      }
      const step = this.steps[outer]!.inside?.get(cursor.name);
      if (step !== undefined) found.begin(step, outer, cursor.start);
      if (step !== undefined && this.isRead(step, json, cursor.start)) {
        path.push(step);
        at = cursor.start + 1;
      } else {
        at = valueEnd(json, cursor.start);
        if (step !== undefined) found.end(step, at);
      }
    }
    return this.collect(found);
  }

  /** Whether paths go on inside the value of a member. */
  private isRead(step: number, json: string, start: number): boolean {
    return this.steps[step]!.inside !== undefined && json.charCodeAt(start) === OPEN_BRACE;
  }

  private collect(found: Members): (JsonValue | undefined)[] {
    const values = new Array<JsonValue | undefined>(this.paths.length);
    const latest = this.steps.map(({ ends, endsOfNames }, step) =>
      ends.length + endsOfNames.length > 0 ? found.latest(step, this.steps) : undefined,
    );
    this.steps.forEach(({ ends }, step) => {
      for (const index of ends) values[index] = latest[step];
    });
    this.steps.forEach(({ endsOfNames }, step) => {
      for (const index of endsOfNames) values[index] = latest[step] ?? values[index];
    });
    return values;
  }
}

function newStep(outer: number): Step {
  return { outer, inside: undefined, ends: [], endsOfNames: [] };
}

/** Where a text has the latest members that belong to steps. Their numbers tell which one contains another. */
class Members {
  private readonly starts: number[];
  private readonly ends: number[];
  /** 0 if there is none. */
  private readonly numbers: number[];
  private readonly outerNumbers: number[];
  private count = 1;

  constructor(
    private readonly json: string,
    steps: number,
  ) {
    this.starts = new Array<number>(steps).fill(0);
    this.ends = [...this.starts];
    this.numbers = [...this.starts];
    this.outerNumbers = [...this.starts];
    this.numbers[0] = 1;
  }

  begin(step: number, outer: number, start: number): void {
    this.count += 1;
    this.starts[step] = start;
    this.numbers[step] = this.count;
    this.outerNumbers[step] = this.numbers[outer]!;
  }

  end(step: number, end: number): void {
    this.ends[step] = end;
  }

  latest(step: number, steps: readonly Step[]): JsonValue | undefined {
    for (let inner = step; inner > 0; inner = steps[inner]!.outer) {
      const outer = this.numbers[steps[inner]!.outer];
      if (this.numbers[inner] === 0 || this.outerNumbers[inner] !== outer) return undefined;
    }
    return new JsonValue(this.json.slice(this.starts[step], this.ends[step]));
  }
}
