import { All, Controller, Module, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { DomainError, NotFoundError } from '#libs/kernel';
import { PublicOutsideV1 } from './access.js';
import { EVERY_PATH, methodsOf } from './known-methods.js';

/**
 * What no other route takes. Being a route, it passes the guards like any other: an unknown path
 * under `/v1/` is 401 without credentials. Must be the last module imported.
 */
@PublicOutsideV1()
@Controller()
class UnknownRouteController {
  @All(EVERY_PATH)
  refuse(@Req() request: Request, @Res({ passthrough: true }) response: Response): never {
    refuseMethod(request, response);
  }
}

/** @throws DomainError 405 with the methods that the path has, else 404 */
export function refuseMethod(request: Request, response: Response): never {
  const methods = methodsOf(request);
  if (methods.length === 0) throw new NotFoundError('path');
  response.setHeader('Allow', methods.join(', '));
  throw new DomainError(
    'method_not_allowed',
    'method_not_allowed',
    `The method ${request.method} is not allowed here; ${methods.join(', ')} are.`,
  );
}

@Module({ controllers: [UnknownRouteController] })
export class UnknownRouteModule {}
