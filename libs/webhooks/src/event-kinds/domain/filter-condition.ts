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

/** The rules of conditions, for the API's description. */
export const CONDITION_RULES =
  'A string, number, boolean or null, which the value must be equal to; an array of these, any of which it must be ' +
  'equal to; or an object, all of whose members must hold: `gt`, `gte`, `lt`, `lte` (must be a number), `prefix` ' +
  '(must be a string), `exists` (must be true or false), `not` (a condition). Arrays and objects must not be empty. An ' +
  'element must be a string, number, boolean or null. A number must have an exponent of less than 10 digits, ' +
  'and a string must not contain U+0000 or lone surrogates.';

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

/** The condition in a JSON text. @param fail is called for each fault; the condition is then of no use */
export function conditionOf(json: string, fail: Fail): Condition {
  const value = new JsonValue(json);
  if (value.type === 'object') return allOf(json, fail);
  if (value.type !== 'array') return anyOf([value], (problem) => fail(problem));
  const elements = rawElements(json).map((element) => new JsonValue(element));
  if (elements.length === 0) fail(EMPTY);
  return anyOf(elements, (problem, index) => fail(problem, [index]));
}

function allOf(json: string, fail: Fail): Condition {
  const members = [...rawMembers(json)];
  if (members.length === 0) fail(EMPTY);
  const conditions = members.map(([name, given]) => {
    const operator = OPERATORS.get(name);
    const failInside: Fail = (problem, path = []) => fail(problem, [name, ...path]);
    if (operator) return operator(new JsonValue(given), failInside);
    const says = `is none of ${[...OPERATORS.keys()].join(', ')}`;
    failInside({ code: 'not_allowed', says });
    return () => undefined;
  });
  return (value) => {
    const verdicts = conditions.map((condition) => condition(value));
    return verdicts.includes(undefined) ? undefined : !verdicts.includes(false);
  };
}

/** Every value can be compared with null, and others with their own type. */
function anyOf(elements: readonly JsonValue[], fail: (problem: Problem, index: number) => void) {
  const types = new Set(elements.map(({ type }) => type));
  const keys = new Set(elements.map(({ key }) => key));
  elements.forEach((element, index) => {
    const problem = problemOf(element);
    if (problem) fail(problem, index);
  });
  return (value: JsonValue | undefined): boolean | undefined => {
    if (!value) return undefined;
    if (keys.has(value.key)) return true;
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

type Operator = (given: JsonValue, fail: Fail) => Condition;

const OPERATORS = new Map<string, Operator>([
  ['gt', comparison((order) => order > 0)],
  ['gte', comparison((order) => order >= 0)],
  ['lt', comparison((order) => order < 0)],
  ['lte', comparison((order) => order <= 0)],
  [
    'prefix',
    (given, fail) => {
      const prefix = textOf(given, fail);
      return ofType('string', (value) => value.text.startsWith(prefix));
    },
  ],
  [
    'exists',
    (given, fail) => {
      if (given.type !== 'boolean') fail(NO_BOOLEAN);
      return (value) => (value !== undefined) === (given.json === 'true');
    },
  ],
  [
    'not',
    (given, fail) => {
      const condition = conditionOf(given.json, fail);
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
    return ofType('number', (value) => holds(compareNumbers(value.number, number)));
  };
}

function ofType(type: JsonValue['type'], holds: (value: JsonValue) => boolean): Condition {
  return (value) => (value?.type === type ? holds(value) : undefined);
}

function textOf(given: JsonValue, fail: Fail): string {
  if (given.type === 'string' && isStorable(given.text)) return given.text;
  fail(given.type === 'string' ? NOT_STORABLE : NO_STRING);
  return '';
}
