import type { Type } from '@nestjs/common';
import type { CommonCode, DescribedError } from './errors.js';
import type { Schema } from './schema.js';

/** A parameter of a path or of a query. */
export interface Parameter {
  about: string;
  schema: Schema;
  /** A header that is not always there. */
  optional?: boolean;
}

export type Parameters = Readonly<Record<string, Parameter>>;

/** Headers that only some answers carry; `X-Request-Id` is on all of them. */
export type AnswerHeader = 'ETag' | 'Link' | 'Location';

/** An answer that is not JSON. */
export interface MediaAnswer {
  mediaTypes: readonly string[];
}

/**
 * What the code of a route does not tell of it. The rest is read from the controller: method,
 * path, status, body, `If-Match`, `Idempotency-Key`, who may call it, and the errors that follow from these.
 */
export interface Operation {
  /** A title of a few words. */
  summary: string;
  /** What a caller has to know, in sentences. */
  about: string;
  /** Parameters of the path that mean something else here than in the rest of the controller. */
  path?: Parameters;
  query?: Parameters;
  /** The body, where it is read by hand; that of a DTO is described by its fields. */
  body?: Schema;
  /** Bodies by name; where there are none, the examples of the fields make one. */
  examples?: Readonly<Record<string, unknown>>;
  answer: Schema | MediaAnswer;
  headers?: readonly AnswerHeader[];
  /** Errors that do not follow from the route itself. */
  errors?: readonly (CommonCode | DescribedError)[];
  /** Further answers that are no errors of the one shape, by status. */
  others?: Readonly<Record<number, { about: string; schema: Schema }>>;
}

/** The routes of a controller, described. */
export interface RoutesDescription {
  controller: Type;
  tag: string;
  about: string;
  path: Parameters;
  operations: Readonly<Record<string, Operation>>;
}

/**
 * Describes a controller. Every method of it needs an operation, or this does not compile;
 * `apps/api` puts the descriptions together.
 */
export function describeRoutes<Controller extends object>(
  controller: Type<Controller>,
  description: {
    /** The headline under which the routes are shown. */
    tag: string;
    about: string;
    /** The parameters of its paths. */
    path?: Parameters;
    operations: Readonly<Record<keyof Controller & string, Operation>>;
  },
): RoutesDescription {
  return { path: {}, ...description, controller };
}

/** A request that we send. */
export interface NotificationDescription {
  /** What it is called. */
  name: string;
  tag: string;
  summary: string;
  about: string;
  headers: Parameters;
  body: Schema;
  /** What the receiver's answers mean, by status or class of them. */
  answers: Readonly<Record<string, string>>;
}
