import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { markUnauthenticated, OPEN_TO, type OpenTo, pathOf } from '#libs/http';
import { SessionsService } from '../domain/sessions.service.js';
import { RequestLogin, usedSessionOf } from './request-login.js';

/**
 * Requires valid credentials, or the session of a browser, for every route, except those that are declared
 * open. It uses only the headers, so the body of an unauthenticated request is never read.
 */
@Injectable()
export class BasicAuthGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly login: RequestLogin,
    private readonly sessions: SessionsService,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    if (this.isOpen(context, request)) {
      markUnauthenticated(request);
      return true;
    }
    const token = usedSessionOf(request);
    const match =
      token === undefined
        ? await this.login.withPassword(request)
        : await this.login.withSession(request, token);
    // Not when a page reads again by itself: that is no sign of a user.
    if (token !== undefined && !isUnattended(request)) await this.sessions.use(token);
    request.principal = match.principal;
    if (match.credentialId !== undefined) request.credentialId = match.credentialId;
    const isStillLoggedIn = () => this.login.isStillValid(request, match);
    request.isStillLoggedIn = isStillLoggedIn;
    return true;
  }

  private isOpen(context: ExecutionContext, request: Request): boolean {
    const openTo = this.reflector.getAllAndOverride<OpenTo | undefined>(OPEN_TO, [
      context.getHandler(),
      context.getClass(),
    ]);
    if (openTo === 'paths-outside-v1') return !/^\/v1(?:\/|$)/.test(pathOf(request));
    return openTo !== undefined;
  }
}

/** Whether nobody uses the page that sends the request: it says so, or its stream connects again. */
function isUnattended({ headers }: Request): boolean {
  return headers['x-unattended'] !== undefined || headers.accept === 'text/event-stream';
}
