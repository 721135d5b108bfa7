import { useSearchParams } from 'wouter';
import { useUser } from './session.js';

/** Whose data a page shows. */
export interface AccountShown {
  /** For requests of the API: absent for one's own account and, where the platform sees all accounts at once, for all. */
  accountId?: string;
  /** Whether it is the user's own account alone, in which everything may be changed. */
  isOwn: boolean;
}

/** The account that the platform has picked, by `accountId` in the address; for others, their own. */
export function useAccountShown(): AccountShown {
  const { role, userId } = useUser();
  const [search] = useSearchParams();
  if (role !== 'platform') return { isOwn: true };
  const accountId = search.get('accountId') ?? '';
  return accountId === '' ? { isOwn: false } : { accountId, isOwn: accountId === String(userId) };
}
