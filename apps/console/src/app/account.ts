import { useSearchParams } from 'wouter';
import { useUser } from './session.js';

/** The account whose data a page shows. */
export interface AccountShown {
  /** The parameter for API requests: absent for the user's own account and for all accounts at once. */
  accountId?: string;
  /** Whether it is the user's own account, where everything may be changed. */
  isOwn: boolean;
}

/** For the platform, the account in `accountId` of the address; for others, their own. */
export function useAccountShown(): AccountShown {
  const { role, userId } = useUser();
  const [search] = useSearchParams();
  if (role !== 'platform') return { isOwn: true };
  const accountId = search.get('accountId') ?? '';
  return accountId === '' ? { isOwn: false } : { accountId, isOwn: accountId === String(userId) };
}
