import {
  type CanActivate,
  type CustomDecorator,
  type ExecutionContext,
  Injectable,
  SetMetadata,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { ALLOWED_TO, NEEDS_SCOPE, OPEN_TO } from '#libs/http';
import {
  type CredentialScope,
  CUSTOMERS_AND_OPERATORS,
  requireRole,
  requireScope,
  type Role,
} from '../domain/access.js';
import { principalOf } from './current-user.js';

/**
 * The roles that a route, or all routes of a controller, is for; other roles get 403. Without it, a route is for
 * {@link CUSTOMERS_AND_OPERATORS}.
 */
export const AllowedTo = (roles: readonly Role[]): CustomDecorator =>
  SetMetadata(ALLOWED_TO, roles);

/**
 * The scope that a credential needs for a route; others get 403. Without it, GET needs `read`, and every other method
 * `manage`.
 */
export const NeedsScope = (scope: CredentialScope): CustomDecorator =>
  SetMetadata(NEEDS_SCOPE, scope);

/** Whom a route is for. */
interface Access {
  isOpen: boolean;
  roles: readonly Role[];
  /** Undefined if the method decides. */
  scope: CredentialScope | undefined;
}

/** Refuses users whose role or credential does not allow the request. Runs after the `BasicAuthGuard`. */
@Injectable()
export class AccessGuard implements CanActivate {
  /** By handler: reading metadata takes longer than everything else here. */
  private readonly known = new Map<unknown, Access>();

  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const { isOpen, roles, scope } = this.accessOf(context);
    // Logins check the role themselves, and an unknown path is unknown to every role.
    if (isOpen) return true;
    const request = context.switchToHttp().getRequest<Request>();
    const principal = principalOf(request);
    requireRole(principal.role, roles);
    requireScope(principal.scope, scope ?? (isRead(request) ? 'read' : 'manage'));
    return true;
  }

  private accessOf(context: ExecutionContext): Access {
    const known = this.known.get(context.getHandler());
    if (known) return known;
    const on = [context.getHandler(), context.getClass()];
    const { reflector } = this;
    const access: Access = {
      isOpen: reflector.getAllAndOverride<unknown>(OPEN_TO, on) !== undefined,
      roles:
        reflector.getAllAndOverride<readonly Role[] | undefined>(ALLOWED_TO, on) ??
        CUSTOMERS_AND_OPERATORS,
      scope: reflector.getAllAndOverride<CredentialScope | undefined>(NEEDS_SCOPE, on),
    };
    this.known.set(context.getHandler(), access);
    return access;
  }
}

function isRead({ method }: Request): boolean {
  return method === 'GET' || method === 'HEAD';
}
