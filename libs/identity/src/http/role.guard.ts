import {
  applyDecorators,
  type CanActivate,
  type ExecutionContext,
  Injectable,
  SetMetadata,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { RefusesWith } from '#libs/http';
import { ForbiddenError } from '#libs/kernel';
import { principalOf } from './current-user.js';

/** Metadata key of a route that only the role `platform` may use. */
const PLATFORM_ONLY = 'switchhook:platform-only';

/** Restricts a route, or all routes of a controller, to the role `platform`; other roles get 403. */
export const PlatformOnly = (): ClassDecorator & MethodDecorator =>
  applyDecorators(SetMetadata(PLATFORM_ONLY, true), RefusesWith('forbidden'));

/** Restricts the platform's routes to platform users. Runs after the {@link BasicAuthGuard}. */
@Injectable()
export class RoleGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const platformOnly = this.reflector.getAllAndOverride<boolean | undefined>(PLATFORM_ONLY, [
      context.getHandler(),
      context.getClass(),
    ]);
    if (platformOnly !== true) return true;
    const { role } = principalOf(context.switchToHttp().getRequest<Request>());
    if (role !== 'platform') throw new ForbiddenError();
    return true;
  }
}
