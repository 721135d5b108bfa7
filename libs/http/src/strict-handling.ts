import type { Request } from 'express';
import leven from 'leven';
import { type FieldFault, isObject, pointerTo, type Schema } from '#libs/kernel';

const STRICT = /^\s*handling\s*=\s*"?strict"?\s*(?:;|$)/i;
/** Limits of names and faults in an answer, because both come from the request. */
const MAX_NAME = 64;
const MAX_FAULTS = 20;

/** Whether the request has `Prefer: handling=strict` (RFC 7240). If so, the answer says that it was obeyed. */
export function isStrict(request: Request): boolean {
  const { prefer = [] } = request.headers;
  const strict = [prefer].flat().some((text) => text.split(',').some((one) => STRICT.test(one)));
  if (strict) request.res?.setHeader('Preference-Applied', 'handling=strict');
  return strict;
}

/** The members of a value that its schema does not have. @param at the JSON Pointer of the value in the body */
export function unknownMembers(value: unknown, schema: Schema, at = ''): FieldFault[] {
  const { properties } = schema.oneOf?.find(({ type }) => type === 'object') ?? schema;
  if (!properties || !isObject(value)) return [];
  const names = Object.keys(value);
  const unknown = names.filter((name) => !Object.hasOwn(properties, name));
  const known = names.filter((name) => Object.hasOwn(properties, name));
  return [
    ...unknownFaults(unknown, Object.keys(properties), (name) => fieldOf(at, name)),
    ...known.flatMap((name) => unknownMembers(value[name], properties[name]!, fieldOf(at, name))),
  ];
}

/** The faults of names that are not known, with the most similar known one. */
export function unknownFaults(
  unknown: readonly string[],
  known: readonly string[],
  field: (name: string) => string,
): FieldFault[] {
  return unknown.slice(0, MAX_FAULTS).map((name) => {
    const shown = field(name.slice(0, MAX_NAME));
    const similar = mostSimilar(name, known);
    const hint = similar === undefined ? '' : ` (did you mean ${similar}?)`;
    return { field: shown, code: 'not_allowed', message: `${shown} is not known here${hint}.` };
  });
}

/** The known name that was probably meant; undefined if none is similar. */
export function mostSimilar(name: string, known: readonly string[]): string | undefined {
  if (name.length > MAX_NAME) return undefined;
  const distances = known.map(
    (other) => [leven(name.toLowerCase(), other.toLowerCase()), other] as const,
  );
  const [distance, nearest] = distances.sort(([a], [b]) => a - b)[0] ?? [Infinity];
  return distance <= Math.max(1, Math.floor(name.length / 3)) ? nearest : undefined;
}

function fieldOf(at: string, name: string): string {
  return at === '' ? name : pointerTo(at, [name]);
}
