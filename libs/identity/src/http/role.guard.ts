import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { ForbiddenError } from '#libs/kernel';
import { PLATFORM_ONLY, principalOf } from './decorators.js';

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
