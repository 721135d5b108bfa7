import { All, Controller, Module, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { DomainError, NotFoundError } from '#libs/kernel';
import { PublicOutsideV1 } from './access.js';
import { EVERY_PATH, methodsOf } from './known-methods.js';
import { pathOf } from './request.js';

/** The longest path that an error suggests. */
const MAX_HINT = 100;

/**
 * The catch-all route. Guards apply to it like to any other route, so without credentials an unknown path
 * under `/v1/` is answered with 401. Import this module last.
 */
@PublicOutsideV1()
@Controller()
class UnknownRouteController {
  @All(EVERY_PATH)
  refuse(@Req() request: Request, @Res({ passthrough: true }) response: Response): never {
    refuseMethod(request, response);
  }
}

/** @throws DomainError 405 with the methods of the path; NotFoundError if the path is unknown */
export function refuseMethod(request: Request, response: Response): never {
  const methods = methodsOf(request);
  if (methods.length === 0) {
    const versioned = `/v1${pathOf(request)}`;
    const isKnown = versioned.length <= MAX_HINT && methodsOf(request, versioned).length > 0;
    throw new NotFoundError('path', isKnown ? versioned : undefined);
  }
  response.setHeader('Allow', methods.join(', '));
  throw new DomainError(
    'method_not_allowed',
    'method_not_allowed',
    `The method ${request.method} is not allowed here. Allowed: ${methods.join(', ')}.`,
  );
}

@Module({ controllers: [UnknownRouteController] })
export class UnknownRouteModule {}
