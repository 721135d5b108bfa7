import { applyDecorators } from '@nestjs/common';
import { Expose, Transform } from 'class-transformer';
import {
  registerDecorator,
  ValidateIf,
  validateSync,
  type ValidationArguments,
} from 'class-validator';
import {
  BIDI_CONTROLS,
  BIDI_RULE,
  type FieldCode,
  type FieldFault,
  hasBidiControl,
  hasLength,
  HTTP_SCHEMES,
  isPrintable,
  isTooLongForUrl,
  isUrl,
  MAX_URL,
  numericIdOf,
} from '#libs/kernel';
import type { Config } from '#libs/runtime';
import { inAnyCase, type Schema } from './openapi/schema.js';
import type { Part } from './part.js';
import { parseTime, TIME_RULE } from './query.js';

/** How a member of a body is read. */
export interface FieldOptions {
  required?: boolean;
  /** Required unless this other member is given. */
  requiredUnless?: string;
  /** On PUT, `null` clears it; otherwise `null` is a fault there. (On POST, `null` means "not given".) */
  clearable?: boolean;
  /** Removes white space around a string. */
  trim?: boolean;
  /** The property holds the member's JSON text as it was sent, not its value. */
  raw?: boolean;
  /** For the API description. */
  about?: string;
  example?: unknown;
  default?: unknown;
}

const fields = new Map<object, Map<string, FieldOptions>>();

/** Declares a property of a DTO as a member of the body. Undeclared members are ignored. */
export function Field(options: FieldOptions = {}): PropertyDecorator {
  const register: PropertyDecorator = (target, property) => {
    const known = fields.get(target) ?? new Map<string, FieldOptions>();
    known.set(String(property), options);
    fields.set(target, known);
  };
  const isGiven = (value: unknown): boolean =>
    value !== undefined && !(options.clearable === true && value === null);
  const trim = ({ value }: { value: unknown }): unknown =>
    typeof value === 'string' ? value.trim() : value;
  return applyDecorators(
    register,
    Expose(),
    ...(options.trim === true ? [Transform(trim)] : []),
    options.required === true || options.requiredUnless !== undefined
      ? required(options.requiredUnless)
      : ValidateIf((_, value: unknown) => isGiven(value)),
  );
}

function required(unless: string | undefined): PropertyDecorator {
  if (unless === undefined) {
    return Check('required', 'is required', (value) => value !== undefined);
  }
  return Check(
    'required',
    `or ${unless} is required`,
    (value, { dto }) => value !== undefined || dto[unless] !== undefined,
  );
}

/** The members that a DTO and its base classes declare with {@link Field}. */
export function fieldsOf(dto: new () => object): Map<string, FieldOptions> {
  const all = new Map<string, FieldOptions>();
  for (const prototype of prototypesOf(dto)) {
    for (const [name, options] of fields.get(prototype) ?? []) {
      if (!all.has(name)) all.set(name, options);
    }
  }
  return all;
}

function* prototypesOf(dto: new () => object): Generator<object> {
  let prototype = dto.prototype as object | null;
  while (prototype !== null) {
    yield prototype;
    prototype = Object.getPrototypeOf(prototype) as object | null;
  }
}

/** A rule, in words and as far as JSON Schema can express it. */
export interface FieldRule {
  property: string;
  code: FieldCode;
  says: string;
  schema: Schema;
}

const rules = new Map<object, FieldRule[]>();

/** The rules for a member of a DTO. */
export function rulesOf(dto: new () => object, property: string): FieldRule[] {
  return [...prototypesOf(dto)]
    .flatMap((prototype) => rules.get(prototype) ?? [])
    .filter((rule) => rule.property === property);
}

/** What a rule may use besides the value. */
export interface CheckContext {
  dto: Record<string, unknown>;
  config: Config;
  /** Whether the body is for a new resource, not for one whose values may be older than a rule. */
  isNew: boolean;
  /** The faults of values with parts, by field. */
  inside: Map<string, FieldFault[]>;
}

const contexts = new WeakMap<object, CheckContext>();

/** All faults of an instance of a DTO. */
export function faultsIn(instance: object, config: Config, isNew: boolean): FieldFault[] {
  const inside = new Map<string, FieldFault[]>();
  contexts.set(instance, { dto: instance as Record<string, unknown>, config, isNew, inside });
  const errors = validateSync(instance);
  // Or it would stay, with the instance, until a full garbage collection.
  contexts.delete(instance);
  return errors.flatMap(
    ({ property, constraints }) => inside.get(property) ?? [faultOf(property, constraints)],
  );
}

/** If a field breaks several rules, the first of these is reported. */
const PRECEDENCE: readonly FieldCode[] = ['required', 'type', 'length', 'format', 'choice'];

function faultOf(field: string, constraints: Record<string, string> = {}): FieldFault {
  const code = PRECEDENCE.find((candidate) => candidate in constraints);
  const [other, message] = Object.entries(constraints)[0] ?? ['format', `${field} is not valid.`];
  if (code) return { field, code, message: constraints[code] ?? message };
  return { field, code: other as FieldCode, message };
}

/**
 * A rule of a field: its `code`, its wording ("must …") and its test. The test does not run for an absent
 * value, and must accept values of a type that an earlier rule refuses.
 * @param schema the rule as far as JSON Schema can express it, for the API description
 */
export function Check(
  code: FieldCode,
  says: string,
  test: (value: unknown, context: CheckContext) => boolean,
  schema: Schema = {},
): PropertyDecorator {
  return (target, property) => {
    const rule = { property: String(property), code, says, schema };
    rules.set(target, [...(rules.get(target) ?? []), rule]);
    registerDecorator({
      name: code,
      target: target.constructor,
      propertyName: String(property),
      validator: {
        validate: (value: unknown, { object = {} }: Partial<ValidationArguments> = {}) =>
          (value === undefined && code !== 'required') || test(value, contexts.get(object)!),
        defaultMessage: () => `${String(property)} ${says}.`,
      },
    });
  };
}

/** Whether a member of a DTO must be an object. An empty array then counts as an empty one. */
export function isObjectField(dto: new () => object, property: string): boolean {
  return rulesOf(dto, property).some(({ schema }) => schema.type === 'object');
}

/** A value with parts, whose faults say where they are. */
export function Is({ schema, faultsOf }: Part): PropertyDecorator {
  return (target, property) => {
    const test = (value: unknown, { inside }: CheckContext): boolean => {
      const faults = faultsOf(value, String(property));
      if (faults.length > 0) inside.set(String(property), faults);
      return faults.length === 0;
    };
    Check('type', '', test, schema)(target, property);
  };
}

/** A label: 1 to `max` characters, no control characters. */
export function IsLabel(max: number): PropertyDecorator {
  return applyDecorators(
    IsText(max),
    HasNoBidiControl(),
    Check(
      'format',
      'must not contain control characters or lone surrogates',
      (value) => typeof value !== 'string' || isPrintable(value),
      { pattern: `^[^\\u0000-\\u001f\\u007f-\\u009f${BIDI_CONTROLS}]*$` },
    ),
  );
}

/** For an update, the service checks this, because it knows which values change: see `bidiFaults`. */
function HasNoBidiControl(): PropertyDecorator {
  return Check(
    'format',
    BIDI_RULE,
    (value, { isNew }) => !isNew || typeof value !== 'string' || !hasBidiControl(value),
  );
}

/** A string. */
export function IsString(): PropertyDecorator {
  return Check('type', 'must be a string', (value) => typeof value === 'string', {
    type: 'string',
  });
}

/** A string of 1 to `max` characters. */
export function IsText(max: number): PropertyDecorator {
  return applyDecorators(
    IsString(),
    Check(
      'length',
      `must have 1 to ${String(max)} characters`,
      (value) => typeof value !== 'string' || hasLength(value, max),
      { minLength: 1, maxLength: max },
    ),
  );
}

/** An absolute `http` or `https` URL. */
export function IsHttpUrl(): PropertyDecorator {
  return IsUrl(HTTP_SCHEMES);
}

/** An absolute URL of one of the schemes. @param fragment whether the description allows one */
export function IsUrl(
  schemes: readonly string[],
  { fragment = true }: { fragment?: boolean } = {},
): PropertyDecorator {
  const inPath = `[^\\s${fragment ? '' : '#'}${BIDI_CONTROLS}]`;
  return applyDecorators(
    IsText(MAX_URL),
    HasNoBidiControl(),
    Check(
      'format',
      `must be an absolute ${schemes.join(' or ')} URL with a valid host and port, and without blanks`,
      (value) => typeof value !== 'string' || isTooLongForUrl(value) || isUrl(value, schemes),
      // No `format`: "uri" would refuse non-ASCII letters, which are allowed here.
      { pattern: `^(?:${schemes.map(inAnyCase).join('|')})://[^/\\\\?#\\s]${inPath}*$` },
    ),
  );
}

/** One of a few exact strings. @param schema a named one that lists them */
export function IsChoice(
  choices: readonly string[],
  schema: Schema = { enum: choices },
): PropertyDecorator {
  return applyDecorators(
    IsString(),
    Check(
      'choice',
      `must be one of ${choices.join(', ')}`,
      (value) => typeof value !== 'string' || choices.includes(value),
      schema,
    ),
  );
}

/** The rule for an id in a body, in words. */
export const ID_RULE =
  'must be a whole number from 0 to 2^63-1 without sign or leading zero; beyond 2^53 as a string';

/** The same rule as far as JSON Schema can express it. */
export const ID_SCHEMA: Schema = { type: 'string', pattern: '^(?:0|[1-9][0-9]{0,18})$' };

/** In descriptions only: client generators do not know members with two types. */
export const INTEGER_TOO = 'An integer is accepted, too.';

/** An id: an integer or a string of digits, which `numericIdOf` normalises. */
export function IsId(): PropertyDecorator {
  const isTextOrNumber = (value: unknown): boolean =>
    typeof value === 'string' || typeof value === 'number';
  return applyDecorators(
    Check('type', 'must be a whole number or a string of digits', isTextOrNumber, {
      description: INTEGER_TOO,
    }),
    Check(
      'format',
      ID_RULE,
      (value) => !isTextOrNumber(value) || numericIdOf(value) !== undefined,
      ID_SCHEMA,
    ),
  );
}

/** An RFC 3339 time. */
export function IsTime(): PropertyDecorator {
  const isTime = (value: unknown) => typeof value !== 'string' || parseTime(value) !== undefined;
  return applyDecorators(IsString(), Check('format', TIME_RULE, isTime, { format: 'date-time' }));
}

/** A JSON boolean. */
export function IsFlag(): PropertyDecorator {
  return Check('type', 'must be true or false', (value) => typeof value === 'boolean', {
    type: 'boolean',
  });
}
