import type { Request } from 'express';
import { pathOf } from './request.js';

/** The part of Express' router that matches paths. */
interface Layer {
  route?: { path: string; methods: Record<string, boolean> };
  match(path: string): boolean;
}

/** The path of the catch-all route. */
export const EVERY_PATH = '/{*path}';

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
