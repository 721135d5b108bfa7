import { All, Controller, Module, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { DomainError, NotFoundError } from '../errors/domain-error.js';
import { PublicOutsideV1 } from './access.js';
import { pathOf } from './request.js';

/** The part of Express' router that tells which paths it knows. */
interface Layer {
  route?: { path: string; methods: Record<string, boolean> };
  match(path: string): boolean;
}

const EVERY_PATH = '/{*path}';

/**
 * What no other route takes. Being a route, it passes the guards like any other: an unknown path
 * under `/v1/` is 401 without credentials. Must be the last module imported.
 */
@PublicOutsideV1()
@Controller()
class UnknownRouteController {
  @All(EVERY_PATH)
  refuse(@Req() request: Request, @Res({ passthrough: true }) response: Response): never {
    const methods = methodsOf(request);
    if (methods.length === 0) throw new NotFoundError('path');
    response.setHeader('Allow', methods.join(', '));
    throw new DomainError(
      'method_not_allowed',
      'method_not_allowed',
      `The method ${request.method} is not allowed here; ${methods.join(', ')} are.`,
    );
  }
}

function methodsOf(request: Request): string[] {
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

@Module({ controllers: [UnknownRouteController] })
export class UnknownRouteModule {}
