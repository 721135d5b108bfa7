import { parameter } from '#libs/http';
import { EVERY_ACCOUNT, type Scope } from '#libs/kernel';
import type { Principal } from '../domain/logins.js';

/**
 * Whose rows a list shows: only the platform sees those of every account. For others, no account but their own exists,
 * so the filter finds nothing then.
 * @param asked the filter `accountId`
 */
export function accountShown(asked: string | undefined, { role, userId }: Principal): Scope {
  if (role === 'platform') return asked ?? EVERY_ACCOUNT;
  return (asked ?? userId) === userId ? userId : '0';
}

/** The account whose resources are read: the viewer's own, or for the platform the one that it asks for. */
export function accountRead(asked: string | undefined, viewer: Principal): string {
  return accountShown(asked, viewer) ?? viewer.userId;
}

/** The parameter for {@link accountRead}. */
export const ACCOUNT_READ = {
  accountId: parameter.numericId(
    'Of this account instead of the own one; for the role `platform`. The audit of that account shows that it was read.',
    '83346',
  ),
};

/** Whose deliveries and events a viewer may open: only the platform may open those of every account. */
export function ownerSeen({ role, userId }: Principal): Scope {
  return role === 'platform' ? EVERY_ACCOUNT : userId;
}
