import {
  type CallHandler,
  createParamDecorator,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  RequestMethod,
  UseInterceptors,
} from '@nestjs/common';
import { METHOD_METADATA } from '@nestjs/common/constants.js';
import type { Request } from 'express';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { type Actor, actAs } from '#libs/kernel';
import type { Principal } from '../domain/logins.js';

declare module 'express-serve-static-core' {
  interface Request {
    /** Set by the guard, for every request that needs credentials. */
    principal?: Principal;
    /** The credential of the login; a session that began with a link has none. Set with the principal. */
    credentialId?: string;
    /**
     * Whether the login is still valid, for an answer that never ends; set with the principal.
     * @throws UnavailableError
     */
    isStillLoggedIn?: () => Promise<boolean>;
  }
}

/** The {@link Principal} of the request. */
export const CurrentUser = createParamDecorator((_: unknown, context: ExecutionContext) =>
  principalOf(context.switchToHttp().getRequest<Request>()),
);

/** @throws Error on a public route, which has no user */
export function principalOf(request: Request): Principal {
  if (!request.principal) throw new Error('the route is public: it has no current user');
  return request.principal;
}

/** The {@link Principal} of the request with its credential; a session that began with a link has none. */
export const CurrentLogin = createParamDecorator(
  (_: unknown, context: ExecutionContext): CurrentLogin => {
    const request = context.switchToHttp().getRequest<Request>();
    return { ...principalOf(request), credentialId: request.credentialId };
  },
);

export type CurrentLogin = Principal & { credentialId: string | undefined };

@Injectable()
class ActorInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<Request>();
    const { principal } = request;
    // A login, which has no user yet.
    if (!principal) return next.handle();
    const actor = actorOf(request, principal);
    return from(actAs(actor, () => lastValueFrom(next.handle())));
  }
}

/** The user of the request as an actor, for what a read records: reads do not {@link ActAsUser}. */
export const CurrentActor = createParamDecorator((_: unknown, context: ExecutionContext) => {
  const request = context.switchToHttp().getRequest<Request>();
  return actorOf(request, principalOf(request));
});

/** The user of a request as an actor. */
export function actorOf(request: Request, { userId, username: name }: Principal): Actor {
  return { userId, name, address: request.ip, requestId: request.requestId };
}

/**
 * Makes the user of a request the actor of all changes by a controller: the audit names the user, and users
 * share the connections to PostgreSQL fairly. Without it, the actor is the service. Reads do not get the
 * interceptor, because even an empty one adds half of the time that NestJS takes for them.
 */
export const ActAsUser = (): ClassDecorator => {
  const decorate = UseInterceptors(ActorInterceptor);
  return ({ prototype }: { prototype: object }) => {
    for (const [name, member] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
      const method: unknown = Reflect.getMetadata(METHOD_METADATA, member.value as object);
      if (method !== undefined && method !== RequestMethod.GET) decorate(prototype, name, member);
    }
  };
};
