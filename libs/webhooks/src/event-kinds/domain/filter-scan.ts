import { eachMember, valueEnd } from '#libs/kernel';
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
   * one counts. Reads the text once, however many paths and members there are.
   * @param json must have passed `JSON.parse`
   */
  valuesIn(json: string): (JsonValue | undefined)[] {
    const values = new Array<JsonValue | undefined>(this.paths.length);
    const members: Members = new Map();
    if (json.startsWith('{')) read(json, 0, this.root, members);
    collect(json, members, values);
    return values;
  }
}

function stepInto(step: Step, name: string, isWhole = false): Step {
  const found = step.inside.get(name) ?? newStep(isWhole);
  step.inside.set(name, found);
  return found;
}

/** What a member has: where it is in the text, and the members inside that are looked for. */
interface Member {
  start: number;
  end: number;
  inside: Members | undefined;
}

type Members = Map<Step, Member>;

/** Collects the members of an object, the last one of each name. @returns where the object ends */
function read(json: string, open: number, step: Step, members: Members): number {
  return eachMember(json, open, (name, start) => {
    const inner = step.inside.get(name);
    if (!inner) return valueEnd(json, start);
    const isRead = inner.inside.size > 0 && json.startsWith('{', start);
    const inside: Members | undefined = isRead ? new Map() : undefined;
    const end = inside ? read(json, start, inner, inside) : valueEnd(json, start);
    members.set(inner, { start, end, inside });
    return end;
  });
}

function collect(json: string, members: Members, values: (JsonValue | undefined)[]): void {
  for (const [step, { start, end, inside }] of members) {
    if (step.ends.length > 0) {
      const value = new JsonValue(json.slice(start, end));
      for (const index of step.ends) {
        if (step.isWhole || !values[index]) values[index] = value;
      }
    }
    if (inside) collect(json, inside, values);
  }
}
