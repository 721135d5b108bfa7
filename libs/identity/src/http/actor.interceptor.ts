import {
  type CallHandler,
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
import { principalOf } from './decorators.js';

@Injectable()
class ActorInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<Request>();
    const actor = actorOf(request, principalOf(request));
    return from(actAs(actor, () => lastValueFrom(next.handle())));
  }
}

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
