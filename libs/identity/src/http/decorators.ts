import {
  applyDecorators,
  createParamDecorator,
  type ExecutionContext,
  SetMetadata,
} from '@nestjs/common';
import type { Request } from 'express';
import { RefusesWith } from '#libs/http';
import type { RateLimit } from '../domain/rate-limiter.js';
import type { Principal } from '../domain/logins.js';

declare module 'express-serve-static-core' {
  interface Request {
    /** Set by the guard, for every request that needs credentials. */
    principal?: Principal;
    /**
     * Whether the login is still valid, for an answer that never ends; set with the principal.
     * @throws UnavailableError
     */
    isStillLoggedIn?: () => Promise<boolean>;
  }
}

/** Metadata key of a route that only the role `platform` may use. */
export const PLATFORM_ONLY = 'switchhook:platform-only';

/** Restricts a route, or all routes of a controller, to the role `platform`; other roles get 403. */
export const PlatformOnly = (): ClassDecorator & MethodDecorator =>
  applyDecorators(SetMetadata(PLATFORM_ONLY, true), RefusesWith('forbidden'));

/** Metadata key of the rate limit of a route. */
export const LIMITED_TO = 'switchhook:limited-to';

/** A rate limit of a route for each account, in addition to the account's general one. */
export interface RouteLimit extends RateLimit {
  /** The name of a request to this route. */
  what: string;
}

/** Limits a route that costs more than a request; requests beyond the limit get 429. */
export const LimitedTo = (limit: RouteLimit): MethodDecorator => SetMetadata(LIMITED_TO, limit);

/** The {@link Principal} of the request. */
export const CurrentUser = createParamDecorator((_: unknown, context: ExecutionContext) =>
  principalOf(context.switchToHttp().getRequest<Request>()),
);

/** @throws Error on a public route, which has no user */
export function principalOf(request: Request): Principal {
  if (!request.principal) throw new Error('the route is public: it has no current user');
  return request.principal;
}
