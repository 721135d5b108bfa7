import { parse } from 'node:querystring';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { type FieldFault, type Problem, ValidationError, type Validator } from '#libs/kernel';
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
  read: (query: QueryReader, name: string) => Value;
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

/** @throws ValidationError with all faults */
export function readQuery<Of extends QueryParameters>(of: Of, request: Request): Query<Of> {
  const query = new QueryReader(request);
  const values = valuesOf(of, query);
  query.done();
  return values as Query<Of>;
}

function valuesOf(of: QueryParameters, query: QueryReader): object {
  const entries = Object.entries(of).map(([name, one]) => {
    if (!isParameter(one)) return [name, valuesOf(one, query)];
    return [name, isKnownAt(one, query.request.params) ? one.read(query, name) : undefined];
  });
  return given(Object.fromEntries(entries) as object);
}

function isParameter(of: QueryParameter | QueryParameters): of is QueryParameter {
  return typeof of['read'] === 'function';
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

/**
 * Reads the query of a request and collects every fault. Unknown parameters are ignored, and values of
 * filters that nothing has find nothing, unless the request wants strict handling. Call
 * {@link QueryReader.done} before using the values.
 */
export class QueryReader {
  private readonly faults: FieldFault[] = [];
  private readonly known = new Set<string>();

  constructor(readonly request: Request) {}

  /** The text of a parameter that is given once. */
  sent(name: string): string | undefined {
    this.known.add(name);
    const value = this.request.query[name];
    if (value === undefined || typeof value === 'string') return value;
    this.fault(name, { code: 'not_allowed', says: 'must be given only once' });
    return undefined;
  }

  /** Whether there is a valid value. */
  isValid<Value extends string>(
    name: string,
    value: string | undefined,
    validator: Validator<Value>,
  ): value is Value {
    if (value === undefined) return false;
    const [problem] = validator.check(value);
    if (problem) this.fault(name, problem);
    return problem === undefined;
  }

  /** @throws ValidationError if any parameter was faulty */
  done(): void {
    if (isStrict(this.request)) {
      const names = Object.keys(this.request.query).filter((name) => !this.known.has(name));
      this.faults.push(...unknownFaults(names, [...this.known], (name) => name));
    }
    if (this.faults.length > 0) throw new ValidationError(this.faults);
  }

  private fault(field: string, { code, says }: Problem): void {
    this.faults.push({ field, code, message: `The query parameter ${field} ${says}.` });
  }
}

/** The members that are not undefined. */
export function given<Of extends object>(
  of: Of,
): { [Name in keyof Of]?: Exclude<Of[Name], undefined> } {
  const members = Object.entries(of).filter(([, value]) => value !== undefined);
  return Object.fromEntries(members) as { [Name in keyof Of]?: Exclude<Of[Name], undefined> };
}
