import type { Request } from 'express';
import { pathOf } from './request.js';

/** The part of Express' router that tells which paths it knows. */
interface Layer {
  route?: { path: string; methods: Record<string, boolean> };
  match(path: string): boolean;
}

/** The path of the route that takes what no other does. */
export const EVERY_PATH = '/{*path}';

/** The methods that the path of a request is known with; none if it is unknown. */
export function methodsOf(request: Request): string[] {
  const { stack } = (request.app as unknown as { router: { stack: Layer[] } }).router;
  const path = pathOf(request);
  const methods = new Set<string>();
  for (const layer of stack) {
    if (!layer.route || layer.route.path === EVERY_PATH || !layer.match(path)) continue;
    for (const method of Object.keys(layer.route.methods)) methods.add(method.toUpperCase());
  }
  if (methods.has('GET')) methods.add('HEAD');
  return [...methods].sort();
}
