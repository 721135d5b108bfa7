import { eachMember } from '#libs/kernel';
import { JsonValue } from './filter-condition.js';

/** A name in a path: what to look for in the objects that have it, and the paths that end here. */
interface Step {
  inside: Map<string, Step>;
  ends: number[];
  /** Whether the name is a whole path, dots included. */
  isWhole: boolean;
}

const newStep = (isWhole = false): Step => ({ inside: new Map(), ends: [], isWhole });

/** Finds the values at several paths of JSON objects. */
export class PathScan {
  private readonly root = newStep();

  /** @param paths names of members, or names joined by dots */
  constructor(private readonly paths: readonly string[]) {
    paths.forEach((path, index) => {
      const names = path.split('.');
      let step = this.root;
      for (const name of names) {
        step = stepInto(step, name);
      }
      step.ends.push(index);
      // An object can also have a member with dots in its name.
      if (names.length > 1) stepInto(this.root, path, true).ends.push(index);
    });
  }

  /**
   * The values by the positions of their paths; absent if an object has no such member. Of a repeated member the last
   * one counts. Reads the text once for each level of objects, however many paths and members there are.
   * @param json must have passed `JSON.parse`
   */
  valuesIn(json: string): (JsonValue | undefined)[] {
    const values = new Array<JsonValue | undefined>(this.paths.length);
    if (json.startsWith('{')) find(json, 0, this.root, values);
    return values;
  }
}

function stepInto(step: Step, name: string, isWhole = false): Step {
  const found = step.inside.get(name) ?? newStep(isWhole);
  step.inside.set(name, found);
  return found;
}

function find(json: string, open: number, step: Step, values: (JsonValue | undefined)[]): void {
  const last = new Map<Step, [start: number, end: number]>();
  eachMember(json, open, (name, start, end) => {
    const inner = step.inside.get(name);
    if (inner) last.set(inner, [start, end]);
  });
  for (const [inner, [start, end]] of last) {
    if (inner.ends.length > 0) {
      const value = new JsonValue(json.slice(start, end));
      for (const index of inner.ends) {
        if (inner.isWhole || !values[index]) values[index] = value;
      }
    }
    if (inner.inside.size > 0 && json.startsWith('{', start)) find(json, start, inner, values);
  }
}
