import { applyDecorators } from '@nestjs/common';
import { Expose, Transform } from 'class-transformer';
import { registerDecorator, ValidateIf, type ValidationArguments } from 'class-validator';
import {
  type FieldCode,
  type FieldFault,
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
import { parseTime } from './query.js';

/** The value that an object in a body was read as, or the faults of its members, by JSON Pointer. */
export type ReadObject = { value: object } | { faults: FieldFault[] };

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
  /** For objects: converts the members into the property's value. */
  read?: (members: Record<string, unknown>) => ReadObject;
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
  const trim = ({ value }: { value: unknown }): unknown =>
    typeof value === 'string' ? value.trim() : value;
  const isGiven = (value: unknown): boolean =>
    value !== undefined && !(options.clearable === true && value === null);
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

/** What a rule may use besides the value: the other members and the configuration. */
export interface CheckContext {
  dto: Record<string, unknown>;
  config: Config;
}

const configs = new WeakMap<object, Config>();

/** Makes the configuration available to the rules of a DTO instance. */
export function validateUnder(config: Config, instance: object): void {
  configs.set(instance, config);
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
          (value === undefined && code !== 'required') ||
          test(value, {
            dto: object as Record<string, unknown>,
            config: configs.get(object) as Config,
          }),
        defaultMessage: () => `${String(property)} ${says}.`,
      },
    });
  };
}

/** A label: 1 to `max` characters, no control characters. */
export function IsLabel(max: number): PropertyDecorator {
  return applyDecorators(
    IsText(max),
    Check(
      'format',
      'must not contain control characters or lone surrogates',
      (value) => typeof value !== 'string' || isPrintable(value),
      { pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$' },
    ),
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

/** An absolute URL of one of the schemes. */
export function IsUrl(schemes: readonly string[]): PropertyDecorator {
  return applyDecorators(
    IsText(MAX_URL),
    Check(
      'format',
      `must be an absolute ${schemes.join(' or ')} URL without blanks`,
      (value) => typeof value !== 'string' || isTooLongForUrl(value) || isUrl(value, schemes),
      // No `format`: "uri" would refuse non-ASCII letters, which are allowed here.
      { pattern: `^(?:${schemes.map(inAnyCase).join('|')})://[^/\\\\?#\\s]\\S*$` },
    ),
  );
}

/** One of a few exact strings. */
export function IsChoice(choices: readonly string[]): PropertyDecorator {
  return applyDecorators(
    IsString(),
    Check(
      'choice',
      `must be one of ${choices.join(', ')}`,
      (value) => typeof value !== 'string' || choices.includes(value),
      { enum: choices },
    ),
  );
}

/** The rule for an id in a body, in words. */
export const ID_RULE =
  'must be a whole number from 0 to 2^63-1 without sign or leading zero; beyond 2^53 as a string';

/** The same rule as far as JSON Schema can express it. */
export const ID_SCHEMA: Schema = {
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  pattern: '^(?:0|[1-9][0-9]{0,18})$',
};

/** An id: an integer or a string of digits, which `numericIdOf` normalises. */
export function IsId(): PropertyDecorator {
  const isTextOrNumber = (value: unknown): boolean =>
    typeof value === 'string' || typeof value === 'number';
  return applyDecorators(
    Check('type', 'must be a whole number or a string of digits', isTextOrNumber, {
      type: ['integer', 'string'],
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
  return applyDecorators(
    IsString(),
    Check(
      'format',
      'must be a time such as 2026-01-31T12:00:00Z (RFC 3339)',
      (value) => typeof value !== 'string' || parseTime(value) !== undefined,
      { format: 'date-time' },
    ),
  );
}

/** A JSON object; the field's `read` checks its members. */
export function IsObject(schema: Schema): PropertyDecorator {
  const isObject = (value: unknown): boolean =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  return Check('type', 'must be a JSON object', isObject, schema);
}

/** A JSON boolean. */
export function IsFlag(): PropertyDecorator {
  return Check('type', 'must be true or false', (value) => typeof value === 'boolean', {
    type: 'boolean',
  });
}
