import { parameter } from '#libs/http';
import type { Principal } from '../domain/logins.js';

/**
 * The account whose rows a list shows; undefined for all accounts, which only the platform sees. For others, no
 * account but their own exists, so the filter finds nothing then.
 * @param asked the filter `accountId`
 */
export function accountShown(
  asked: string | undefined,
  { role, userId }: Principal,
): string | undefined {
  if (role === 'platform') return asked;
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

/** The account whose deliveries and events a viewer may open; undefined for all accounts, which only the platform may. */
export function ownerSeen({ role, userId }: Principal): string | undefined {
  return role === 'platform' ? undefined : userId;
}
