import type { Type } from '@nestjs/common';
import type { CommonCode, DescribedError } from './errors.js';
import type { Schema } from './schema.js';

/** A parameter of a path or of a query. */
export interface Parameter {
  about: string;
  schema: Schema;
  /** For a header that is not always present. */
  optional?: boolean;
}

export type Parameters = Readonly<Record<string, Parameter>>;

/** Headers of some answers only; all of them have `X-Request-Id`. */
export type AnswerHeader = 'ETag' | 'Location' | 'Switchhook-Cursor';

/** An answer that is not JSON. */
export interface MediaAnswer {
  mediaTypes: readonly string[];
}

/**
 * The part of a route's description that is not in its code. The rest is read from the controller: method,
 * path, status, query, body, `If-Match`, `Idempotency-Key`, access, and the errors that follow from these.
 */
export interface Operation {
  /** A title of a few words. */
  summary: string;
  /** What a caller has to know, in sentences. */
  about: string;
  /** Path parameters with a different meaning than in the rest of the controller. */
  path?: Parameters;
  /** Headers of the request, besides `If-Match` and `Idempotency-Key`. */
  requestHeaders?: Parameters;
  /** The body, if the route does not use a DTO. */
  body?: Schema;
  /** Bodies by name; by default one is built from the examples of the fields. */
  examples?: Readonly<Record<string, unknown>>;
  answer: Schema | MediaAnswer;
  /** Response headers that do not follow from the parameters and the schema. */
  headers?: readonly AnswerHeader[];
  /** Errors that do not follow from the route and its decorators. */
  errors?: readonly (CommonCode | DescribedError)[];
  /** Further answers by status, which do not have the error format. */
  others?: Readonly<Record<number, { about: string; schema: Schema }>>;
}

/** The routes of a controller, described. */
export interface RoutesDescription {
  controller: Type;
  at?: string;
  ids?: string;
  tag: string;
  about?: string;
  path: Parameters;
  operations: Readonly<Record<string, Operation>>;
}

/**
 * Describes a controller. It compiles only with an operation for every method. `apps/api` combines the
 * descriptions.
 */
export function describeRoutes<Controller extends object>(
  controller: Type<Controller>,
  description: {
    /** Which of the controller's addresses, if it has several. */
    at?: string;
    /**
     * What operation ids begin with, if not the controller's name. Generated clients have methods of these names, so
     * an id stays when its operation moves to another controller.
     */
    ids?: string;
    /** The heading for the routes. */
    tag: string;
    about?: string;
    /** The path parameters. */
    path?: Parameters;
    operations: Readonly<Record<keyof Controller & string, Operation>>;
  },
): RoutesDescription {
  return { path: {}, ...description, controller };
}

/** A request that we send. */
export interface NotificationDescription {
  name: string;
  /** Where it is sent, as an OpenAPI runtime expression. */
  to: string;
  /** The ids of the operations whose callers get it. */
  operations: readonly string[];
  tag: string;
  summary: string;
  about: string;
  headers: Parameters;
  body: Schema;
  /** The meaning of the receiver's answers, by status or status class. */
  answers: Readonly<Record<string, string>>;
}
