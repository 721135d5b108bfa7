import { type FieldCode, type FieldFault, ValidationError } from './errors.js';

/** Why a value is refused: a code, and words that begin with "must" or similar. */
export interface Problem {
  code: FieldCode;
  says: string;
  /** Where it is inside the value. */
  path?: readonly (string | number)[];
}

/** The problems of something inside a value as problems of the value. */
export function inside(name: string | number, problems: readonly Problem[]): Problem[] {
  return problems.map(({ path = [], ...problem }) => ({ ...problem, path: [name, ...path] }));
}

/** The JSON Pointer (RFC 6901) of something inside a member of a body. */
export function pointerTo(at: string, path: readonly (string | number)[]): string {
  const segments = path.map((name) => String(name).replaceAll('~', '~0').replaceAll('/', '~1'));
  return [at.startsWith('/') ? at : `/${at}`, ...segments].join('/');
}

/** The fault of a member. @param at its name, or the JSON Pointer of what is inside one */
export function faultAt(at: string, { code, says, path = [] }: Problem): FieldFault {
  const field = path.length === 0 ? at : pointerTo(at, path);
  return { field, code, message: `${field} ${says}.` };
}

/** @throws ValidationError if there is a problem of the field */
export function refuse(field: string, problem: Problem | undefined): void {
  if (problem) throw new ValidationError([faultAt(field, problem)]);
}
