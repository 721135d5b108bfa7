import { parameter } from '#libs/http';
import { EVERY_ACCOUNT, type Scope } from '#libs/kernel';
import { isOperator } from '../domain/access.js';
import type { Principal } from '../domain/logins.js';

/**
 * The accounts whose rows a list shows: all of them for operators. For other users, only their own account exists,
 * so any other finds nothing.
 * @param asked the filter `accountId`
 */
export function accountShown(asked: string | undefined, { role, userId }: Principal): Scope {
  if (isOperator(role)) return asked ?? EVERY_ACCOUNT;
  return (asked ?? userId) === userId ? userId : '0';
}

/** The account whose resources are read: the viewer's own or, for operators, any that they name. */
export function accountRead(asked: string | undefined, viewer: Principal): string {
  return accountShown(asked, viewer) ?? viewer.userId;
}

/** The parameter for {@link accountRead}. */
export const ACCOUNT_READ = {
  accountId: parameter.numericId(
    "The account to read; by default, the caller's. Only operators (roles `platform` and `operator`) can read another account, whose audit shows it.",
    '83346',
  ),
};

/** The accounts whose deliveries and events a viewer may read: all of them for operators. */
export function ownerSeen({ role, userId }: Principal): Scope {
  return isOperator(role) ? EVERY_ACCOUNT : userId;
}
