import type { QueryReader } from '#libs/http';
import type { Principal } from '#libs/identity';

/**
 * The account whose rows a list shows; undefined for all accounts, which only the platform sees. For others, no
 * account but their own exists, so the filter `accountId` finds nothing then.
 */
export function accountShown(query: QueryReader, { role, userId }: Principal): string | undefined {
  const asked = query.numericId('accountId');
  if (role === 'platform') return asked;
  return (asked ?? userId) === userId ? userId : '0';
}

/** The account whose deliveries and events a viewer may open; undefined for all accounts, which only the platform may. */
export function ownerSeen({ role, userId }: Principal): string | undefined {
  return role === 'platform' ? undefined : userId;
}
