import type { Request } from 'express';
import { pathOf } from './request.js';

/** The part of Express' router that tells which paths it knows. */
interface Layer {
  route?: { path: string; methods: Record<string, boolean> };
  match(path: string): boolean;
}

/** The path of the route that takes what no other does. */
export const EVERY_PATH = '/{*path}';

/**
 * The methods that the path of a request is known with; none if it is unknown. One that is a route as
 * it stands (`/v1/events/batch`) is no id of another.
 */
export function methodsOf(request: Request): string[] {
  const { stack } = (request.app as unknown as { router: { stack: Layer[] } }).router;
  const path = pathOf(request);
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
