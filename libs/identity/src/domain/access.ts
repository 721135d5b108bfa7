import { ForbiddenError } from '#libs/kernel';

/** The roles of users (docs/operating/users.md). */
export const ROLES = ['account', 'platform', 'operator', 'reporter'] as const;
export type Role = (typeof ROLES)[number];

/** Roles that operate the service: they see every account, and manage users. */
export const OPERATORS: readonly Role[] = ['platform', 'operator'];

/** Roles that report events. */
export const REPORTERS: readonly Role[] = ['platform', 'reporter'];

/** Roles that use the rest of the API, and the console. */
export const CUSTOMERS_AND_OPERATORS: readonly Role[] = ['account', ...OPERATORS];

/** Whether users of a role operate the service. */
export function isOperator(role: Role): boolean {
  return OPERATORS.includes(role);
}

/** @throws ForbiddenError unless the role is one of those allowed */
export function requireRole(role: Role, allowed: readonly Role[]): void {
  if (allowed.includes(role)) return;
  throw new ForbiddenError(
    role === 'reporter'
      ? 'A user with the role reporter may only report events.'
      : `This requires a user with the role ${allowed.join(' or ')}.`,
  );
}

/** What a credential is for: `manage` allows what its user may do; `read` only to read, and no secret. */
export const SCOPES = ['manage', 'read'] as const;
export type CredentialScope = (typeof SCOPES)[number];

/** @throws ForbiddenError unless a credential with the scope may do what needs the other */
export function requireScope(scope: CredentialScope, needed: CredentialScope): void {
  if (scope === 'manage' || needed === 'read') return;
  throw new ForbiddenError('This credential has the scope read; this requires manage.');
}
