import { type FieldCode, ValidationError } from './errors.js';
import { faultAt, inside, type Problem } from './problem.js';
import {
  BIDI_CONTROLS,
  BIDI_RULE,
  codePoints,
  hasBidiControl,
  hasLength,
  HTTP_SCHEMES,
  isPrintable,
  isStorable,
  isTooLongForUrl,
  isUrl,
  MAX_URL,
  numericIdOf,
} from './text.js';
import { parseTime, TIME_RULE } from './time.js';

/** The part of JSON Schema (draft 2020-12) that checks and the API description use. */
export interface Schema {
  type?: string | readonly string[];
  description?: string;
  examples?: readonly unknown[];
  default?: unknown;
  enum?: readonly unknown[];
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  items?: Schema;
  minItems?: number;
  maxItems?: number;
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  maxProperties?: number;
  propertyNames?: Schema;
  additionalProperties?: Schema;
  oneOf?: readonly Schema[];
  $ref?: string;
}

/** A value in a request, a query or an import: which values are valid, in code, as a schema and in words. */
export interface Validator<Value = unknown> {
  /** The rules as far as JSON Schema can express them. */
  readonly schema: Schema;
  /** The rules in words, but for the type. */
  readonly wording: readonly string[];
  /**
   * The problems of a value, none if it is valid.
   * @param isNew whether the value is for a new resource; otherwise it may be a stored one that is older than a rule
   */
  readonly check: (value: unknown, isNew?: boolean) => readonly Problem[];
  /** The same with a further rule, which only sees values that pass the earlier ones. */
  and(
    code: FieldCode,
    says: string,
    holds: (value: Value, isNew: boolean) => boolean,
    schema?: Schema,
  ): Validator<Value>;
}

const NONE: readonly Problem[] = [];

/** A validator with a check of its own, which may find several problems. */
export function validatorOf<Value>(
  schema: Schema,
  check: Validator['check'],
  wording: readonly string[] = [],
): Validator<Value> {
  return {
    schema,
    wording,
    check,
    and(code, says, holds, more) {
      const problem = [{ code, says }];
      const checkBoth = (value: unknown, isNew = true): readonly Problem[] => {
        const problems = check(value, isNew);
        if (problems.length > 0) return problems;
        return holds(value as Value, isNew) ? NONE : problem;
      };
      // The same object if possible, because a schema may have a name.
      return validatorOf(more ? { ...schema, ...more } : schema, checkBoth, [...wording, says]);
    },
  };
}

/** Any value of a type. */
export function typed<Value>(
  says: string,
  isTyped: (value: unknown) => value is Value,
  schema: Schema,
): Validator<Value> {
  const problem: readonly Problem[] = [{ code: 'type', says }];
  return validatorOf(schema, (value) => (isTyped(value) ? NONE : problem));
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** PHP turns an empty object into an empty array, so this counts as one wherever an object is expected. */
export function isEmptyArray(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

export function isStringOrNumber(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number';
}

/** An object of any members. */
export function anyObject(schema: Schema = {}): Validator<Record<string, unknown>> {
  return typed('must be a JSON object', isObject, { type: 'object', ...schema });
}

/** The JSON text of an object. */
export function objectText(maxBytes: number, schema: Schema): Validator<string> {
  return typed(
    'must be a JSON object',
    (json): json is string => typeof json === 'string' && json.startsWith('{'),
    { type: 'object', ...schema },
  ).and(
    'length',
    `must have at most ${maxBytes} bytes of JSON text`,
    (json) => Buffer.byteLength(json) <= maxBytes,
  );
}

const isString = (value: unknown): value is string => typeof value === 'string';
const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean';
const isArray = (value: unknown): value is unknown[] => Array.isArray(value);
const isInteger = (value: unknown): value is number => Number.isInteger(value);

export function string(): Validator<string> {
  return typed('must be a string', isString, { type: 'string' });
}

export function flag(): Validator<boolean> {
  return typed('must be true or false', isBoolean, { type: 'boolean' });
}

/** A string with 1, or `min`, to `max` characters. */
export function text(max: number, min = 1): Validator<string> {
  const holds = (value: string) =>
    min === 1 ? hasLength(value, max) : codePoints(value) >= min && codePoints(value) <= max;
  return string().and('length', `must have ${min} to ${max} characters`, holds, {
    minLength: min,
    maxLength: max,
  });
}

/** A text that PostgreSQL and every receiver accept. */
export function storableText(max: number, min = 1): Validator<string> {
  return text(max, min).and('format', 'must not contain U+0000 or lone surrogates', isStorable, {
    pattern: '^[^\\u0000]*$',
  });
}

/** On a change, the service checks this, because it knows which values change: see `bidiFaults`. */
const withoutBidiControls = (validator: Validator<string>): Validator<string> =>
  validator.and('format', BIDI_RULE, (value, isNew) => !isNew || !hasBidiControl(value));

/** A name for people: 1 to `max` characters, no control characters. */
export function label(max: number): Validator<string> {
  return withoutBidiControls(text(max)).and(
    'format',
    'must not contain control characters or lone surrogates',
    isPrintable,
    { pattern: `^[^\\u0000-\\u001f\\u007f-\\u009f${BIDI_CONTROLS}]*$` },
  );
}

/** An absolute URL of one of the schemes. */
export function url(
  schemes: readonly string[],
  { fragment = true }: { fragment?: boolean } = {},
): Validator<string> {
  const inPath = `[^\\s${fragment ? '' : '#'}${BIDI_CONTROLS}]`;
  const validator = withoutBidiControls(text(MAX_URL)).and(
    'format',
    `must be an absolute ${schemes.join(' or ')} URL with a valid host and port, and without whitespace`,
    (value) => isTooLongForUrl(value) || isUrl(value, schemes),
    // No `format`: "uri" would refuse non-ASCII letters, which are allowed here.
    { pattern: `^(?:${schemes.map(inAnyCase).join('|')})://[^/\\\\?#\\s]${inPath}*$` },
  );
  if (fragment) return validator;
  return validator.and('format', 'must not have a fragment', (value) => !value.includes('#'));
}

/** An absolute `http` or `https` URL. */
export function httpUrl(): Validator<string> {
  return url(HTTP_SCHEMES);
}

/** The words for a choice. */
function choiceRule(choices: readonly string[]): string {
  return `must be one of ${choices.join(', ')}`;
}

/** One of a few exact strings. @param schema a named one that lists them */
export function oneOf<Choice extends string>(
  choices: readonly Choice[],
  schema?: Schema,
): Validator<Choice> {
  const holds = (value: string) => choices.includes(value as Choice);
  const validator = string().and('choice', choiceRule(choices), holds, { enum: choices });
  return validatorOf(schema ?? validator.schema, validator.check, validator.wording);
}

/** One of a few words, whose case does not matter. */
export function wordOf(words: readonly string[]): Validator<string> {
  const rule = `${choiceRule(words)}, in any case`;
  return string().and('choice', rule, (value) => words.includes(value.toLowerCase()), {
    pattern: `^(?:${words.map(inAnyCase).join('|')})$`,
  });
}

/** A pattern that ignores the case of a word: JSON Schema has no flag for that. */
function inAnyCase(word: string): string {
  return word.replaceAll(/[a-z]/g, (letter) => `[${letter.toUpperCase()}${letter}]`);
}

/** @param schema for the description alone: it checks no limits */
export function wholeNumber(schema: Schema = {}): Validator<number> {
  return typed('must be a whole number', isInteger, { type: 'integer', ...schema });
}

export function integer({ min, max }: { min: number; max: number }): Validator<number> {
  return wholeNumber().and(
    'range',
    `must be from ${min} to ${max}`,
    (value) => value >= min && value <= max,
    { minimum: min, maximum: max },
  );
}

/** In descriptions only: client generators do not know members with two types. */
export const INTEGER_TOO = 'An integer is accepted, too.';

/** An id: an integer or a string of digits, which `numericIdOf` normalises. */
export function numericId(): Validator<string | number> {
  const type = 'must be a whole number or a string of digits';
  return typed(type, isStringOrNumber, { description: INTEGER_TOO }).and(
    'format',
    'must be a whole number from 0 to 2^63-1 without sign or leading zero; beyond 2^53 as a string',
    (value) => numericIdOf(value) !== undefined,
    { type: 'string', pattern: '^(?:0|[1-9][0-9]{0,18})$' },
  );
}

/** An RFC 3339 time. */
export function time(): Validator<string> {
  const isTime = (value: string) => parseTime(value) !== undefined;
  return string().and('format', TIME_RULE, isTime, { format: 'date-time' });
}

export function listOf(
  element: Validator,
  { min = 0, max }: { min?: number; max: number },
): Validator {
  const schema: Schema = {
    type: 'array',
    ...(min > 0 && { minItems: min }),
    maxItems: max,
    items: element.schema,
  };
  const length = min > 0 ? `${min} to ${max}` : `at most ${max}`;
  const list = typed('must be an array', isArray, schema).and(
    'length',
    `must have ${length} elements`,
    (value) => value.length >= min && value.length <= max,
  );
  return validatorOf(schema, (value, isNew) => {
    const problems = list.check(value);
    if (problems.length > 0) return problems;
    return (value as unknown[]).flatMap((each, index) => inside(index, element.check(each, isNew)));
  });
}

/** @throws ValidationError unless the value is valid. @param field its name */
export function requireValid(field: string, value: unknown, validator: Validator): void {
  const problems = validator.check(value);
  if (problems.length === 0) return;
  throw new ValidationError(problems.map((problem) => faultAt(field, problem)));
}
