import { isStorable, type Problem, rawElements, rawMembers } from '#libs/kernel';
import {
  compareNumbers,
  type ExactNumber,
  exactNumber,
  exponentOf,
  MAX_EXPONENT,
} from './exact-number.js';

/** A value in JSON text, which is read only as far as a condition needs it. */
export class JsonValue {
  readonly type: 'string' | 'number' | 'boolean' | 'null' | 'object' | 'array';
  private readText: string | undefined;
  private readNumber: ExactNumber | undefined;
  private readKey: string | undefined;

  /** @param json must have passed `JSON.parse` */
  constructor(readonly json: string) {
    this.type = TYPES[json.charAt(0)] ?? 'number';
  }

  /** Of a string. */
  get text(): string {
    this.readText ??= JSON.parse(this.json) as string;
    return this.readText;
  }

  /** Of a number. */
  get number(): ExactNumber {
    this.readNumber ??= exactNumber(this.json);
    return this.readNumber;
  }

  /** The same for equal values, except for objects and arrays, of which none is equal to another value. */
  get key(): string {
    this.readKey ??= this.makeKey();
    return this.readKey;
  }

  private makeKey(): string {
    if (this.type === 'string') return `"${this.text}`;
    if (this.type !== 'number') return this.type === 'boolean' ? this.json : this.type;
    const { sign, exponent, digits } = this.number;
    return `${sign} ${exponent} ${digits}`;
  }
}

const TYPES: Readonly<Record<string, JsonValue['type']>> = {
  ...{ '"': 'string', '{': 'object', '[': 'array' },
  ...{ t: 'boolean', f: 'boolean', n: 'null' },
};

/**
 * Whether a value, or none, meets a condition; undefined if that cannot be judged. A condition on several things can
 * only be judged if each of them can.
 */
export type Condition = (value: JsonValue | undefined) => boolean | undefined;

/** Reports what is wrong with a condition. @param path where, inside the condition */
type Fail = (problem: Problem, path?: readonly (string | number)[]) => void;

/** Limits of a condition: values of an array, and conditions inside each other with `not`. */
const MAX_VALUES = 100;
const MAX_DEPTH = 5;

/** The rules of conditions, for the API's description. */
export const CONDITION_RULES =
  'A string, number, boolean or null that the value must equal; an array of these, one of which it must equal; ' +
  'or an object whose members must all hold: `gt`, `gte`, `lt`, `lte` (must be a number), `prefix` ' +
  '(must be a string), `exists` (must be true or false), `not` (a condition). Arrays and objects must not be empty. An ' +
  'element must be a string, number, boolean or null. A number must have an exponent of less than 10 digits, ' +
  `and a string must not contain U+0000 or lone surrogates. An array must have at most ${MAX_VALUES} elements, and ` +
  `conditions must be at most ${MAX_DEPTH} deep.`;

const TOO_MANY: Problem = { code: 'length', says: `must have at most ${MAX_VALUES} elements` };
const TOO_DEEP: Problem = { code: 'length', says: `is more than ${MAX_DEPTH} conditions deep` };
const EMPTY: Problem = { code: 'length', says: 'must not be empty' };
const NO_SCALAR: Problem = { code: 'format', says: 'must be a string, number, boolean or null' };
const NO_NUMBER: Problem = { code: 'format', says: 'must be a number' };
const NO_STRING: Problem = { code: 'format', says: 'must be a string' };
const NO_BOOLEAN: Problem = { code: 'format', says: 'must be true or false' };
const TOO_LARGE: Problem = {
  code: 'range',
  says: 'must have an exponent of less than 10 digits',
};
export const NOT_STORABLE: Problem = {
  code: 'format',
  says: 'must not contain U+0000 or lone surrogates',
};

/**
 * The condition in a JSON text.
 * @param fail is called for each fault; the condition is then of no use
 * @param depth how many conditions it is in, with itself
 */
export function conditionOf(json: string, fail: Fail, depth = 1): Condition {
  // Deeper ones are not read.
  if (depth > MAX_DEPTH) return failed(fail, TOO_DEEP);
  const value = new JsonValue(json);
  if (value.type === 'object') return allOf(json, fail, depth);
  if (value.type !== 'array') return anyOf([value], (problem) => fail(problem));
  const elements = rawElements(json);
  if (elements.length === 0) return failed(fail, EMPTY);
  if (elements.length > MAX_VALUES) return failed(fail, TOO_MANY);
  const values = elements.map((element) => new JsonValue(element));
  return anyOf(values, (problem, index) => fail(problem, [index]));
}

function failed(fail: Fail, problem: Problem): Condition {
  fail(problem);
  return () => undefined;
}

function allOf(json: string, fail: Fail, depth: number): Condition {
  const members = [...rawMembers(json)];
  if (members.length === 0) fail(EMPTY);
  const conditions = members.map(([name, given]) => {
    const operator = OPERATORS.get(name);
    const failInside: Fail = (problem, path = []) => fail(problem, [name, ...path]);
    if (operator) return operator(new JsonValue(given), failInside, depth);
    const says = `is none of ${[...OPERATORS.keys()].join(', ')}`;
    return failed(failInside, { code: 'not_allowed', says });
  });
  const [only] = conditions;
  if (only && conditions.length === 1) return only;
  return (value) => {
    const verdicts = conditions.map((condition) => condition(value));
    return verdicts.includes(undefined) ? undefined : !verdicts.includes(false);
  };
}

/** Separates the keys of values: no value of a filter has it. */
const SEPARATOR = '\0';

/** Every value can be compared with null, and others with their own type. */
function anyOf(elements: readonly JsonValue[], fail: (problem: Problem, index: number) => void) {
  elements.forEach((element, index) => {
    const problem = problemOf(element);
    if (problem) fail(problem, index);
  });
  return isOneOf(
    new Set(elements.map(({ type }) => type)),
    // A text takes a tenth of the memory of a set, and is searched about as fast.
    SEPARATOR + elements.map(({ key }) => key + SEPARATOR).join(''),
  );
}

function isOneOf(types: ReadonlySet<JsonValue['type']>, keys: string): Condition {
  return (value) => {
    if (!value) return undefined;
    const { key } = value;
    const isPossible = key.length < keys.length && !key.includes(SEPARATOR);
    if (isPossible && keys.includes(SEPARATOR + key + SEPARATOR)) return true;
    return types.has('null') || types.has(value.type) ? false : undefined;
  };
}

/** What is wrong with a value that others are compared with. */
function problemOf(value: JsonValue): Problem | undefined {
  if (value.type === 'object' || value.type === 'array') return NO_SCALAR;
  if (value.type === 'string' && !isStorable(value.text)) return NOT_STORABLE;
  return value.type === 'number' && isTooLarge(value) ? TOO_LARGE : undefined;
}

function isTooLarge({ json }: JsonValue): boolean {
  return Math.abs(exponentOf(json)) >= MAX_EXPONENT;
}

type Operator = (given: JsonValue, fail: Fail, depth: number) => Condition;

const OPERATORS = new Map<string, Operator>([
  ['gt', comparison((order) => order > 0)],
  ['gte', comparison((order) => order >= 0)],
  ['lt', comparison((order) => order < 0)],
  ['lte', comparison((order) => order <= 0)],
  [
    'prefix',
    (given, fail) => {
      const prefix = textOf(given, fail);
      return (value) => (value?.type === 'string' ? value.text.startsWith(prefix) : undefined);
    },
  ],
  [
    'exists',
    (given, fail) => {
      if (given.type !== 'boolean') fail(NO_BOOLEAN);
      const exists = given.json === 'true';
      return (value) => (value !== undefined) === exists;
    },
  ],
  [
    'not',
    (given, fail, depth) => {
      const condition = conditionOf(given.json, fail, depth + 1);
      return (value) => {
        const verdict = condition(value);
        return verdict === undefined ? undefined : !verdict;
      };
    },
  ],
]);

function comparison(holds: (order: number) => boolean): Operator {
  return (given, fail) => {
    if (given.type !== 'number') fail(NO_NUMBER);
    else if (isTooLarge(given)) fail(TOO_LARGE);
    const { number } = given;
    return (value) =>
      value?.type === 'number' ? holds(compareNumbers(value.number, number)) : undefined;
  };
}

function textOf(given: JsonValue, fail: Fail): string {
  if (given.type === 'string' && isStorable(given.text)) return given.text;
  fail(given.type === 'string' ? NOT_STORABLE : NO_STRING);
  return '';
}
