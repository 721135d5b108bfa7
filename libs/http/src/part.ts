import type { FieldCode, FieldFault } from '#libs/kernel';
import type { Schema } from './openapi/schema.js';

/** A value inside a body, which no field of a DTO stands for: its schema and its rules. */
export interface Part {
  schema: Schema;
  /** @param at the name of a member of the body, or a JSON Pointer to what is inside one */
  faultsOf: (value: unknown, at: string) => FieldFault[];
}

/** @param says begins with "must" or similar */
export function fault(at: string, code: FieldCode, says: string): FieldFault {
  return { field: at, code, message: `${at} ${says}.` };
}

/** The JSON Pointer (RFC 6901) of something inside a value. */
export function inside(at: string, name: string | number): string {
  const escaped = String(name).replaceAll('~', '~0').replaceAll('/', '~1');
  return `${at.startsWith('/') ? at : `/${at}`}/${escaped}`;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function wholeNumber({ min, max }: { min: number; max: number }): Part {
  return {
    schema: { type: 'integer', minimum: min, maximum: max },
    faultsOf: (value, at) => {
      if (!Number.isInteger(value)) return [fault(at, 'type', 'must be a whole number')];
      const isInRange = (value as number) >= min && (value as number) <= max;
      return isInRange ? [] : [fault(at, 'range', `must be from ${min} to ${max}`)];
    },
  };
}

/** @param schema a named one that lists them */
export function oneOf(
  choices: readonly string[],
  schema: Schema = { type: 'string', enum: choices },
): Part {
  return {
    schema,
    faultsOf: (value, at) => {
      if (typeof value !== 'string') return [fault(at, 'type', 'must be a string')];
      const isChoice = choices.includes(value);
      return isChoice ? [] : [fault(at, 'choice', `must be one of ${choices.join(', ')}`)];
    },
  };
}

export function listOf(element: Part, { min = 0, max }: { min?: number; max: number }): Part {
  const length = min > 0 ? `${min} to ${max}` : `at most ${max}`;
  return {
    schema: {
      type: 'array',
      ...(min > 0 && { minItems: min }),
      maxItems: max,
      items: element.schema,
    },
    faultsOf: (value, at) => {
      if (!Array.isArray(value)) return [fault(at, 'type', 'must be an array')];
      if (value.length < min || value.length > max) {
        return [fault(at, 'length', `must have ${length} elements`)];
      }
      return value.flatMap((each: unknown, index) => element.faultsOf(each, inside(at, index)));
    },
  };
}
