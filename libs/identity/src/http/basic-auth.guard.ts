import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { mayBeCsrf, OPEN_TO, type OpenTo, pathOf } from '#libs/http';
import { addressGroup, BusyError, RateLimitedError } from '#libs/kernel';
import { Authenticator } from '../domain/authenticator.js';
import { UnauthorizedError } from '../domain/identity-errors.js';
import type { Principal } from '../domain/principal.js';
import { Refusals } from './refusals.js';

const FROM_ANOTHER_ORIGIN =
  'Credentials do not count in a request that a page of another origin made a browser send.';

/**
 * Requires valid credentials for every route, except those that are declared open. It uses only the headers,
 * so the body of an unauthenticated request is never read.
 */
@Injectable()
export class BasicAuthGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly authenticator: Authenticator,
    private readonly refusals: Refusals,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    if (this.isOpen(context, request)) return true;
    request.principal = await this.authenticate(request);
    request.reauthenticate = () => this.authenticate(request);
    return true;
  }

  private async authenticate(request: Request): Promise<Principal> {
    const addressOf = () => addressGroup(request.ip ?? '');
    try {
      // Credentials that a browser adds by itself do not show that the user wants the request.
      if (mayBeCsrf(request)) throw new UnauthorizedError(FROM_ANOTHER_ORIGIN);
      return await this.authenticator.authenticate(request.headers.authorization, addressOf);
    } catch (error) {
      if (isRefusal(error)) await this.refusals.pace(addressOf());
      throw error;
    }
  }

  private isOpen(context: ExecutionContext, request: Request): boolean {
    const openTo = this.reflector.getAllAndOverride<OpenTo | undefined>(OPEN_TO, [
      context.getHandler(),
      context.getClass(),
    ]);
    if (openTo === 'paths-outside-v1') return !/^\/v1(?:\/|$)/.test(pathOf(request));
    return openTo === 'everybody';
  }
}

/** Includes BusyError, because hundreds of waiting checks may time out at once. */
function isRefusal(error: unknown): boolean {
  return [UnauthorizedError, RateLimitedError, BusyError].some((each) => error instanceof each);
}
