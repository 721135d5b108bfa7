import { parse } from 'node:querystring';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { type FieldFault, type Problem, ValidationError, type Validator } from '#libs/kernel';
import { exportTypeOf } from './export-formats.js';
import type { Parameter } from './openapi/describe.js';
import { isStrict, unknownFaults } from './strict-handling.js';

/**
 * Express' query parser, by which `+` stands for a blank. But many clients do not escape the one of a telephone number, and
 * texts hardly begin with a blank and a digit: in front of a digit at the start of a value it stands for itself.
 * @param text null if there is no query
 */
export function parseQuery(text: string | null): Record<string, string | string[] | undefined> {
  return parse((text ?? '').replaceAll(/((?:^|&)[^=&]*=)\+(?=\d)/g, '$1%2B'));
}

/** A parameter of a query: how it is read, and its description. */
export interface QueryParameter<Value = unknown> extends Parameter {
  validator: Validator<string>;
  /** Converts a valid text; by default, it is the value itself. */
  read?: (text: string) => Value;
  /** The value if the parameter is not given. */
  default?: Value;
  /** What to look for if a text is not valid, unless the request wants strict handling. */
  invalid?: (text: string) => Value;
  /** What differs in an export. */
  exported?: { validator: Validator<string>; default: Value };
  /** It is unknown at addresses with this path parameter. */
  unless?: string;
}

/** Parameters by name, and groups of them. */
export interface QueryParameters {
  readonly [name: string]: QueryParameter | QueryParameters;
}

type ValueOf<Of> =
  Of extends QueryParameter<infer Value> ? Value : Of extends QueryParameters ? Query<Of> : never;
type MaybeIn<Of> = {
  [Name in keyof Of]: undefined extends ValueOf<Of[Name]> ? Name : never;
}[keyof Of];

/** The values of parameters. Those that were not given are absent. */
export type Query<Of> = { [Name in Exclude<keyof Of, MaybeIn<Of>>]: ValueOf<Of[Name]> } & {
  [Name in MaybeIn<Of>]?: Exclude<ValueOf<Of[Name]>, undefined>;
};

/**
 * The query of a request: `@QueryOf(LIST) { page }: Query<typeof LIST>`. The API's description has its parameters.
 * @throws ValidationError with all faults
 */
export const QueryOf = createParamDecorator(queryOf);

export function queryOf(parameters: QueryParameters, context: ExecutionContext): object {
  return readQuery(parameters, context.switchToHttp().getRequest<Request>());
}

/**
 * Unknown parameters are ignored, unless the request wants strict handling.
 * @throws ValidationError with all faults
 */
export function readQuery<Of extends QueryParameters>(of: Of, request: Request): Query<Of> {
  const reading: Reading = { request, strict: isStrict(request), known: [], faults: [] };
  const { strict, known, faults } = reading;
  const values = valuesOf(of, reading);
  if (strict) {
    const names = Object.keys(request.query).filter((name) => !known.includes(name));
    faults.push(...unknownFaults(names, known, (name) => name));
  }
  if (faults.length > 0) throw new ValidationError(faults);
  return values as Query<Of>;
}

/** A query while it is read. */
interface Reading {
  request: Request;
  strict: boolean;
  known: string[];
  faults: FieldFault[];
}

function valuesOf(of: QueryParameters, reading: Reading): object {
  const entries = Object.entries(of).map(([name, one]) => {
    if (!isParameter(one)) return [name, valuesOf(one, reading)];
    return [name, isKnownAt(one, reading.request.params) ? valueOf(one, name, reading) : undefined];
  });
  return given(Object.fromEntries(entries) as object);
}

const REPEATED: Problem = { code: 'not_allowed', says: 'must be given only once' };

function valueOf(
  parameter: QueryParameter,
  field: string,
  { request, strict, known, faults }: Reading,
): unknown {
  known.push(field);
  const { read, invalid, exported } = parameter;
  const of = exported && exportTypeOf(request) !== undefined ? exported : parameter;
  const sent = request.query[field];
  if (sent === undefined) return of.default;
  const isText = typeof sent === 'string';
  const [problem] = isText ? of.validator.check(sent) : [REPEATED];
  if (isText && !problem) return read ? read(sent) : sent;
  if (isText && invalid && !strict) return invalid(sent);
  const { code, says } = problem ?? REPEATED;
  faults.push({ field, code, message: `The query parameter ${field} ${says}.` });
  return undefined;
}

function isParameter(of: QueryParameter | QueryParameters): of is QueryParameter {
  return 'validator' in of;
}

function isKnownAt({ unless }: QueryParameter, path: object): boolean {
  return unless === undefined || !(unless in path);
}

/** The parameters without groups, at an address. @param path its parameters */
export function parametersIn(of: QueryParameters, path: object): Record<string, QueryParameter> {
  const all = Object.entries(of).flatMap(([name, one]) =>
    isParameter(one) ? [[name, one] as const] : Object.entries(parametersIn(one, path)),
  );
  return Object.fromEntries(all.filter(([, one]) => isKnownAt(one, path)));
}

/** The members that are not undefined. */
export function given<Of extends object>(
  of: Of,
): { [Name in keyof Of]?: Exclude<Of[Name], undefined> } {
  const members = Object.entries(of).filter(([, value]) => value !== undefined);
  return Object.fromEntries(members) as { [Name in keyof Of]?: Exclude<Of[Name], undefined> };
}
