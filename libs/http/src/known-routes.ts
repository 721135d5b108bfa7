import { All, Controller, Module } from '@nestjs/common';
import type { Request } from 'express';
import { DomainError, NotFoundError } from '#libs/kernel';
import { PublicOutsideV1 } from './access.js';
import { pathOf } from './request.js';

/** The part of Express' router that matches paths. */
interface Layer {
  route?: { path: string; methods: Record<string, boolean> };
  match(path: string): boolean;
}

/** The path of the catch-all route. */
const EVERY_PATH = '/{*path}';

/** The path of the route that a request was given to, such as `/v1/applications/:id`. */
export function routeOf(request: Request): string | undefined {
  const path = (request.route as { path?: unknown } | undefined)?.path;
  return typeof path === 'string' && path !== EVERY_PATH ? path : undefined;
}

/**
 * The methods that exist for the path of a request; none if the path is unknown. A literal route such as
 * `/v1/events/batch` has precedence over one with a parameter.
 */
export function methodsOf(request: Request, path = pathOf(request)): string[] {
  const { stack } = (request.app as unknown as { router: { stack: Layer[] } }).router;
  const routes = stack.flatMap((layer) =>
    layer.route && layer.route.path !== EVERY_PATH && layer.match(path) ? layer.route : [],
  );
  const literal = routes.filter((route) => !route.path.includes(':'));
  const methods = new Set<string>();
  for (const route of literal.length > 0 ? literal : routes) {
    for (const method of Object.keys(route.methods)) methods.add(method.toUpperCase());
  }
  if (methods.has('GET')) methods.add('HEAD');
  return [...methods].sort();
}

/** The longest path that an error suggests. */
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
  const versioned = `/v1${pathOf(request)}`;
  const isKnown = versioned.length <= MAX_HINT && methodsOf(request, versioned).length > 0;
  return new NotFoundError('path', isKnown ? versioned : undefined);
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
