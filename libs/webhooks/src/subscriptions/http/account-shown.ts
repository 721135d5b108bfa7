import type { Principal } from '#libs/identity';

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

/** The account whose deliveries and events a viewer may open; undefined for all accounts, which only the platform may. */
export function ownerSeen({ role, userId }: Principal): string | undefined {
  return role === 'platform' ? undefined : userId;
}
