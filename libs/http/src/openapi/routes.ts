import { RequestMethod, type Type } from '@nestjs/common';
import {
  HTTP_CODE_METADATA,
  METHOD_METADATA,
  PATH_METADATA,
  ROUTE_ARGS_METADATA,
} from '@nestjs/common/constants.js';
import { OPEN_TO, type OpenTo, REFUSES_WITH } from '../access.js';
import { ifMatch } from '../entity-tag.js';
import { requestOf } from '../idempotent.js';
import { dtoBody, rawBody } from '../json-body.js';
import type { BodyLimit } from '../read-body.js';
import type { Operation, RoutesDescription } from './describe.js';
import type { CommonCode } from './errors.js';

/** What a route's own code and its description tell together. */
export interface Route {
  id: string;
  method: 'get' | 'post' | 'put' | 'delete';
  /** With `{name}` for each parameter. */
  path: string;
  status: number;
  isOpen: boolean;
  checksVersion: boolean;
  takesKey: boolean;
  /** The DTO of the body. */
  dto?: new () => object;
  /** Which limit holds for the body; absent where there is none. */
  bodyLimit?: BodyLimit;
  /** Errors that its decorators tell of. */
  refusesWith: CommonCode[];
  operation: Operation;
  of: RoutesDescription;
}

const METHODS: Partial<Record<RequestMethod, Route['method']>> = {
  [RequestMethod.GET]: 'get',
  [RequestMethod.POST]: 'post',
  [RequestMethod.PUT]: 'put',
  [RequestMethod.DELETE]: 'delete',
};

/** What decorators leave on controllers and handlers. */
interface Metadata {
  [PATH_METADATA]: string;
  [METHOD_METADATA]: RequestMethod;
  [HTTP_CODE_METADATA]: number;
  [OPEN_TO]: OpenTo;
  [REFUSES_WITH]: CommonCode;
}

/** A parameter of a handler, as Nest keeps it. */
interface Argument {
  factory?: unknown;
  data?: unknown;
}

/**
 * The routes of a controller, read from the metadata that Nest itself goes by.
 * @throws Error when a route is not described, or is of a method that the description cannot tell
 */
export function routesOf(of: RoutesDescription): Route[] {
  const { controller } = of;
  const prototype = controller.prototype as Record<string, unknown>;
  return Object.getOwnPropertyNames(prototype).flatMap((name) => {
    const handler = prototype[name];
    // The constructor carries the metadata of the controller itself.
    if (name === 'constructor' || typeof handler !== 'function') return [];
    const path = read(PATH_METADATA, handler);
    if (path === undefined) return [];
    const operation = of.operations[name];
    const method = METHODS[read(METHOD_METADATA, handler) ?? RequestMethod.GET];
    if (!operation || !method) throw new Error(`${controller.name}.${name} is not described`);
    const refusals = [handler, controller].map((on) => read(REFUSES_WITH, on));
    return {
      id: idOf(controller, name),
      method,
      path: pathOf(controller, path),
      status: read(HTTP_CODE_METADATA, handler) ?? 200,
      isOpen: [handler, controller].some((on) => read(OPEN_TO, on) === 'everybody'),
      refusesWith: refusals.filter((code) => code !== undefined),
      operation,
      of,
      ...argumentsOf(controller, name),
    };
  });
}

function read<Key extends keyof Metadata>(key: Key, on: object): Metadata[Key] | undefined {
  return Reflect.getMetadata(key, on) as Metadata[Key] | undefined;
}

/** `ApplicationsController.list` is `applicationsList`. */
function idOf(controller: Type, name: string): string {
  const stem = controller.name.replace(/Controller$/, '');
  return (
    stem.charAt(0).toLowerCase() + stem.slice(1) + name.charAt(0).toUpperCase() + name.slice(1)
  );
}

function pathOf(controller: Type, path: string): string {
  const segments = `${read(PATH_METADATA, controller) ?? ''}/${path}`.split('/');
  const joined = segments.filter((segment) => segment !== '').join('/');
  return `/${joined.replaceAll(/:(\w+)/g, '{$1}')}`;
}

function argumentsOf(controller: Type, name: string) {
  const stored = Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, name) as unknown;
  const handed = Object.values((stored ?? {}) as Record<string, Argument>);
  const dto = handed.find(({ factory }) => factory === dtoBody)?.data;
  const limit = handed.find(({ factory }) => factory === rawBody)?.data as BodyLimit | undefined;
  return {
    checksVersion: handed.some(({ factory }) => factory === ifMatch),
    takesKey: handed.some(({ factory }) => factory === requestOf),
    ...(dto !== undefined && { dto: dto as new () => object }),
    ...(dto === undefined
      ? limit && { bodyLimit: limit }
      : { bodyLimit: 'MAX_BODY_BYTES' as const }),
  };
}
