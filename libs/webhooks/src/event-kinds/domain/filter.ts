import { createHash } from 'node:crypto';
import {
  inside,
  isStorable,
  objectText,
  type Problem,
  rawElements,
  rawMembers,
  type Steps,
  type Validator,
  validatorOf,
} from '#libs/kernel';
import { type Condition, CONDITION_RULES, conditionOf, NOT_STORABLE } from './filter-condition.js';
import { isPath, MAX_NAMES, PATH_PATTERN, PathScan } from './filter-scan.js';

/** Limits of a filter: members, and bytes of its text. */
const MAX_MEMBERS = 10;
const MAX_BYTES = 4 << 10;

/**
 * Which events a subscription is for, judged by their data: conditions by paths, all of which must hold. This is the
 * only place that judges data; statements get its verdicts.
 */
export class Filter {
  /** Compiled when it is first used, because lists of subscriptions only show it. */
  private compiled: Filters | undefined;

  /** @param text of a valid filter, as {@link Filter.of} makes it */
  constructor(readonly text: string) {}

  /** The filter in the JSON text of a valid one; null if it has no conditions. */
  static of(json: string): Filter | null {
    const text = compact(json);
    return text === '{}' ? null : new Filter(text);
  }

  /** Changes with its content, and only with it. */
  get id(): string {
    return createHash('sha256').update(this.text).digest('base64url').slice(0, 22);
  }

  /** Whether the data of an event meet the filter. @param data JSON text */
  *matches(data: string): Steps<boolean> {
    this.compiled ??= yield* Filters.of([this]);
    const [verdict] = yield* this.compiled.judge(data);
    return verdict === true;
  }

  /** Filters with the same text are equal. */
  toJSON(): string {
    return this.text;
  }
}

/** Several filters, which read the data of an event together. */
export class Filters {
  private constructor(
    private readonly scan: PathScan,
    /** Of each filter. */
    private readonly conditions: readonly Condition[][],
  ) {}

  static *of(filters: readonly Filter[]): Steps<Filters> {
    const paths: string[] = [];
    const conditions: Condition[][] = [];
    for (const { text } of filters) {
      const all: Condition[] = [];
      for (const [path, json] of rawMembers(text)) {
        paths.push(path);
        all.push(conditionOf(json, isValid));
        yield;
      }
      conditions.push(all);
    }
    return new Filters(new PathScan(paths), conditions);
  }

  /** Whether the data of an event meet each filter. @param data JSON text */
  *judge(data: string): Steps<boolean[]> {
    const values = (yield* this.scan.valuesIn(data)).values();
    const verdicts: boolean[] = [];
    for (const all of this.conditions) {
      const ofMembers = all.map((condition) => condition(values.next().value));
      verdicts.push(ofMembers.every((verdict) => verdict === true));
      yield;
    }
    return verdicts;
  }
}

const isValid = (): never => {
  throw new Error('a stored filter is not valid');
};

const TEXT = objectText(MAX_BYTES, {
  maxProperties: MAX_MEMBERS,
  propertyNames: { pattern: PATH_PATTERN },
  additionalProperties: { description: CONDITION_RULES },
});

const TOO_MANY: Problem = { code: 'length', says: `must have at most ${MAX_MEMBERS} members` };
const NO_PATH: Problem = { code: 'format', says: 'must not have a member with an empty name' };
const BAD_PATH: Problem = {
  code: 'format',
  says: `must be a name, or up to ${MAX_NAMES} names joined by dots`,
};

/** The JSON text of a filter in a request body. */
export const filterValidator: Validator<string> = validatorOf(
  TEXT.schema,
  (given) => {
    const problems = TEXT.check(given);
    return problems.length > 0 ? problems : problemsOf([...rawMembers(given as string)]);
  },
  TEXT.wording,
);

function problemsOf(members: readonly [path: string, json: string][]): Problem[] {
  if (members.length > MAX_MEMBERS) return [TOO_MANY];
  return members.flatMap(([path, json]) => {
    if (path === '') return [NO_PATH];
    if (!isPath(path)) return inside(path, [BAD_PATH]);
    if (!isStorable(path)) return inside(path, [NOT_STORABLE]);
    const problems: Problem[] = [];
    conditionOf(json, (problem, at = []) => problems.push({ ...problem, path: at }));
    return inside(path, problems);
  });
}

/** The same JSON text without blanks and repeated members. Numbers stay as they were written. */
function compact(json: string): string {
  switch (json.trimStart().charAt(0)) {
    case '{': {
      const members = [...rawMembers(json)];
      return `{${members.map(([name, value]) => `${JSON.stringify(name)}:${compact(value)}`).join(',')}}`;
    }
    case '[':
      return `[${rawElements(json).map(compact).join(',')}]`;
    case '"':
      return JSON.stringify(JSON.parse(json));
    default:
      return json;
  }
}
