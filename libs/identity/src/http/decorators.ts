import {
  applyDecorators,
  createParamDecorator,
  type ExecutionContext,
  SetMetadata,
} from '@nestjs/common';
import type { Request } from 'express';
import { RefusesWith } from '#libs/http';
import type { RateLimit } from '#libs/runtime';
import type { Principal } from '../domain/principal.js';

declare module 'express-serve-static-core' {
  interface Request {
    /** Set by the guard on every request that needed credentials. */
    principal?: Principal;
  }
}

/** Metadata key: the route is for the role `platform` alone. */
export const PLATFORM_ONLY = 'switchhook:platform-only';

/** A route, or all routes of a controller, for the role `platform` alone; else 403. */
export const PlatformOnly = (): ClassDecorator & MethodDecorator =>
  applyDecorators(SetMetadata(PLATFORM_ONLY, true), RefusesWith('forbidden'));

/** Metadata key: how much an account may ask of the route. */
export const LIMITED_TO = 'switchhook:limited-to';

/** How often an account may use a route, within what it may ask in all. */
export interface RouteLimit extends RateLimit {
  /** What a request of it is. */
  what: string;
}

/** Limits a route that costs others more than a request; beyond it 429. */
export const LimitedTo = (limit: RouteLimit): MethodDecorator => SetMetadata(LIMITED_TO, limit);

/** The {@link Principal} of the request. */
export const CurrentUser = createParamDecorator((_: unknown, context: ExecutionContext) =>
  principalOf(context.switchToHttp().getRequest<Request>()),
);

/** @throws Error on a public route, where there is none */
export function principalOf(request: Request): Principal {
  if (!request.principal) throw new Error('the route is public: it has no current user');
  return request.principal;
}
