import { RequestMethod, type Type } from '@nestjs/common';
import {
  HTTP_CODE_METADATA,
  METHOD_METADATA,
  PATH_METADATA,
  ROUTE_ARGS_METADATA,
} from '@nestjs/common/constants.js';
import { ALLOWED_TO, NEEDS_SCOPE, OPEN_TO, type OpenTo, REFUSES_WITH } from '../access.js';
import { ifMatch } from '../entity-tag.js';
import { requestOf } from '../idempotent.js';
import { dtoBody, loginBody } from '../json-body.js';
import { jsonPieces } from '../json-pieces.js';
import { parametersIn, queryOf, type QueryParameter, type QueryParameters } from '../query.js';
import { type BodyLimit, MAX_LOGIN_BYTES } from '../read-body.js';
import type { Operation, RoutesDescription } from './describe.js';
import type { CommonCode, DescribedError } from './errors.js';

/** A route, from its code and its description. */
export interface Route {
  id: string;
  method: 'get' | 'post' | 'put' | 'delete';
  /** With `{name}` for each parameter. */
  path: string;
  status: number;
  isOpen: boolean;
  /** The roles that it is for, if it is not for the usual ones. */
  roles?: readonly string[];
  /** The scope that it needs, if its method does not decide. */
  scope?: string;
  query: Record<string, QueryParameter>;
  checksVersion: boolean;
  takesKey: boolean;
  /** The DTO of the body. */
  dto?: new () => object;
  isBodyOptional: boolean;
  /** The size limit of the body; absent if the route has no body. */
  bodyLimit?: BodyLimit;
  /** Those of its description and of its decorators. */
  errors: (CommonCode | DescribedError)[];
  operation: Operation;
  of: RoutesDescription;
}

const METHODS: Partial<Record<RequestMethod, Route['method']>> = {
  [RequestMethod.GET]: 'get',
  [RequestMethod.POST]: 'post',
  [RequestMethod.PUT]: 'put',
  [RequestMethod.DELETE]: 'delete',
};

/** The metadata that decorators set on controllers and handlers. */
interface Metadata {
  [PATH_METADATA]: string | string[];
  [METHOD_METADATA]: RequestMethod;
  [HTTP_CODE_METADATA]: number;
  [OPEN_TO]: OpenTo;
  [ALLOWED_TO]: readonly string[];
  [NEEDS_SCOPE]: string;
  [REFUSES_WITH]: (CommonCode | DescribedError)[];
}

/** A parameter of a handler in Nest's metadata. */
interface Argument {
  factory?: unknown;
  data?: unknown;
}

/**
 * The routes of a controller, read from Nest's own metadata.
 * @throws Error when a route is not described, or has a method that is not supported here
 */
export function routesOf(of: RoutesDescription): Route[] {
  const { controller } = of;
  const prototype = controller.prototype as Record<string, unknown>;
  return Object.getOwnPropertyNames(prototype).flatMap((name) => {
    const handler = prototype[name];
    // The constructor has the metadata of the controller itself.
    if (name === 'constructor' || typeof handler !== 'function') return [];
    const path = read(PATH_METADATA, handler) as string | undefined;
    if (path === undefined) return [];
    const operation = of.operations[name];
    const method = METHODS[read(METHOD_METADATA, handler) ?? RequestMethod.GET];
    if (!operation || !method) throw new Error(`${controller.name}.${name} is not described`);
    const address = pathOf(of, path);
    const roles = read(ALLOWED_TO, handler) ?? read(ALLOWED_TO, controller);
    const scope = read(NEEDS_SCOPE, handler);
    return {
      id: idOf(of, name),
      method,
      path: address,
      status: read(HTTP_CODE_METADATA, handler) ?? 200,
      isOpen: [handler, controller].some((on) => read(OPEN_TO, on) === 'everybody'),
      ...(roles && { roles }),
      ...(scope !== undefined && { scope }),
      errors: [
        ...(operation.errors ?? []),
        ...[handler, controller].flatMap((on) => read(REFUSES_WITH, on) ?? []),
      ],
      operation,
      of,
      ...argumentsOf(controller, name, address),
    };
  });
}

function read<Key extends keyof Metadata>(key: Key, on: object): Metadata[Key] | undefined {
  return Reflect.getMetadata(key, on) as Metadata[Key] | undefined;
}

/** `ApplicationsController.list` is `applicationsList`. */
function idOf({ controller, ids }: RoutesDescription, name: string): string {
  const own = controller.name.replace(/Controller$/, '');
  const stem = ids ?? own.charAt(0).toLowerCase() + own.slice(1);
  return stem + name.charAt(0).toUpperCase() + name.slice(1);
}

function pathOf({ controller, at }: RoutesDescription, path: string): string {
  const address = at ?? (read(PATH_METADATA, controller) as string | undefined) ?? '';
  const segments = `${address}/${path}`.split('/');
  const joined = segments.filter((segment) => segment !== '').join('/');
  return `/${joined.replaceAll(/:(\w+)/g, '{$1}')}`;
}

/** The names of the parameters in a path. */
export function pathNames(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
}

function argumentsOf(controller: Type, name: string, path: string) {
  const stored = Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, name) as unknown;
  const parameters = Object.values((stored ?? {}) as Record<string, Argument>);
  const isOptional = parameters.some(({ factory }) => factory === loginBody);
  const body = isOptional ? loginBody : dtoBody;
  const dto = parameters.find(({ factory }) => factory === body)?.data;
  const limit = parameters.find(({ factory }) => factory === jsonPieces)?.data as
    BodyLimit | undefined;
  const query = parameters.find(({ factory }) => factory === queryOf)?.data ?? {};
  const inPath = Object.fromEntries(pathNames(path).map((one) => [one, true]));
  return {
    query: parametersIn(query as QueryParameters, inPath),
    checksVersion: parameters.some(({ factory }) => factory === ifMatch),
    takesKey: parameters.some(({ factory }) => factory === requestOf),
    ...(dto !== undefined && { dto: dto as new () => object }),
    isBodyOptional: isOptional,
    ...(dto === undefined
      ? limit && { bodyLimit: limit }
      : { bodyLimit: (isOptional ? MAX_LOGIN_BYTES : 'MAX_BODY_BYTES') as BodyLimit }),
  };
}
