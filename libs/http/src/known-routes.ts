import { All, Controller, Module } from '@nestjs/common';
import type { Request } from 'express';
import { DomainError, NotFoundError } from '#libs/kernel';
import { PublicOutsideV1 } from './access.js';
import { pathOf } from './request.js';
import { mostSimilar } from './strict-handling.js';

/** The part of Express' router that matches paths. */
interface Layer {
  route?: { path: string; methods: Record<string, boolean> };
  /** Truthy if the path matches. */
  match(path: string): unknown;
}
type RouteLayer = Required<Layer>;

/** The path of the catch-all route. */
const EVERY_PATH = '/{*path}';

/** The path of the route that a request was given to, such as `/v1/applications/:id`. */
export function routeOf(request: Request): string | undefined {
  const path = (request.route as { path?: unknown } | undefined)?.path;
  return typeof path === 'string' && path !== EVERY_PATH ? path : undefined;
}

/** All routes but the catch-all one. */
function routesOf(request: Request): RouteLayer[] {
  const { stack } = (request.app as unknown as { router: { stack: Layer[] } }).router;
  return stack.filter(
    (layer): layer is RouteLayer => layer.route !== undefined && layer.route.path !== EVERY_PATH,
  );
}

/**
 * The methods that exist for the path of a request; none if the path is unknown. A literal route such as
 * `/v1/events/batch` has precedence over one with a parameter.
 */
export function methodsOf(request: Request, path = pathOf(request)): string[] {
  const routes = routesOf(request).flatMap((layer) => (layer.match(path) ? layer.route : []));
  const literal = routes.filter((route) => !route.path.includes(':'));
  const methods = new Set<string>();
  for (const route of literal.length > 0 ? literal : routes) {
    for (const method of Object.keys(route.methods)) methods.add(method.toUpperCase());
  }
  if (methods.has('GET')) methods.add('HEAD');
  return [...methods].sort();
}

/** The longest path for which an error suggests another one. */
const MAX_HINT = 100;

/** No route handles this method of this path. */
export class NoRouteError extends Error {}

/** The path exists, but not with this method. */
export class MethodNotAllowedError extends DomainError {
  constructor(
    method: string,
    readonly allowed: string,
  ) {
    const message = `The method ${method} is not allowed here. Allowed: ${allowed}.`;
    super('method_not_allowed', 'method_not_allowed', message);
  }
}

/** The answer to a request without a route: 405, or 404 if the path is unknown. */
export function noRouteFor(request: Request): DomainError {
  const methods = methodsOf(request);
  if (methods.length > 0) return new MethodNotAllowedError(request.method, methods.join(', '));
  return new NotFoundError('path', hintFor(request));
}

/** The path that was probably meant; undefined if there is none, or the path is too long for a search. */
function hintFor(request: Request): string | undefined {
  const path = pathOf(request);
  if (path.length > MAX_HINT) return undefined;
  const routes = routesOf(request).map(({ route }) => route.path);
  return [`/v1${path}`, similarPath(path, routes)].find(
    (meant) => meant !== undefined && methodsOf(request, meant).length > 0,
  );
}

/**
 * A path in which each name that no route has is replaced by the most similar one; undefined if there is none.
 * @param routes such as `/v1/applications/:id`
 */
export function similarPath(path: string, routes: readonly string[]): string | undefined {
  const names = path.split('/');
  let possible = routes.map((route) => route.split('/')).filter((of) => of.length === names.length);
  const meant: string[] = [];
  for (const [at, name] of names.entries()) {
    const known = possible.map((of) => of[at]!);
    const isKnown = known.some((one) => one === name || one.startsWith(':'));
    const found = isKnown ? name : mostSimilar(name, known);
    if (found === undefined) return undefined;
    possible = possible.filter((of) => of[at] === found || of[at]!.startsWith(':'));
    meant.push(found);
  }
  return meant.join('/');
}

/**
 * The catch-all route. Guards apply to it like to any other route, so without credentials an unknown path
 * under `/v1/` is answered with 401. Import this module last.
 */
@PublicOutsideV1()
@Controller()
class UnknownRouteController {
  @All(EVERY_PATH)
  refuse(): never {
    throw new NoRouteError();
  }
}

@Module({ controllers: [UnknownRouteController] })
export class UnknownRouteModule {}
