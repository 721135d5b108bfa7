import {
  applyDecorators,
  type CanActivate,
  type ExecutionContext,
  Injectable,
  UseGuards,
} from '@nestjs/common';
import type { Request } from 'express';
import { describeError, RefusesWith } from '#libs/http';
import { DomainError } from '#libs/kernel';

/** The request is itself a notification, so that notifications could cause each other without end. */
class NotificationLoopError extends DomainError {
  constructor() {
    const message =
      'The request has the headers webhook-id and webhook-signature: it is a notification, which must not cause others.';
    super('conflict', 'notification_loop', message);
  }
}

/**
 * Refuses a request that is itself a notification. Otherwise subscriptions whose targets are these routes, with
 * credentials in their `headers`, would notify each other without end.
 */
@Injectable()
class NotificationLoopGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { headers } = context.switchToHttp().getRequest<Request>();
    const isNotification = 'webhook-id' in headers && 'webhook-signature' in headers;
    if (isNotification) throw new NotificationLoopError();
    return true;
  }
}

const NOTIFICATION_LOOP = describeError(
  new NotificationLoopError(),
  'The request has the headers `webhook-id` and `webhook-signature`: it is a notification of this service, which ' +
    'must not cause others.',
);

/** Marks a route that starts notifications. */
export const StartsSending = (): MethodDecorator =>
  applyDecorators(UseGuards(NotificationLoopGuard), RefusesWith(NOTIFICATION_LOOP));
