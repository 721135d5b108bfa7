import { useSearchParams } from 'wouter';
import { isOperator } from './session-state.js';
import { useMayChange, useUser } from './session.js';

/** The account whose data a page shows. */
export interface AccountShown {
  /** The parameter for API requests: absent for the user's own account and for all accounts at once. */
  accountId?: string;
  /** Whether it is the user's own account. */
  isOwn: boolean;
}

/** For operators, the account in `accountId` of the address; for others, their own. */
export function useAccountShown(): AccountShown {
  const { role, userId } = useUser();
  const [search] = useSearchParams();
  if (!isOperator(role)) return { isOwn: true };
  const accountId = search.get('accountId') ?? '';
  return accountId === '' ? { isOwn: false } : { accountId, isOwn: accountId === String(userId) };
}

/** The account of a customer whose resource an operator reads; undefined for the user's own, which is the default. */
export function useCustomer(): string | undefined {
  const { accountId, isOwn } = useAccountShown();
  return isOwn ? undefined : accountId;
}

/** Whether the user may change the resource that a page shows: only their own, and not in a session that may only read. */
export function useMayChangeShown(): boolean {
  const mayChange = useMayChange();
  return useCustomer() === undefined && mayChange;
}

/** Keeps `accountId` of the address in the path of a link. */
export function useSameAccount(): (path: string) => string {
  const { accountId } = useAccountShown();
  return (path) => ofAccount(path, accountId);
}

/** The path of a page that shows an account's resource to an operator. */
export function ofAccount(path: string, accountId: string | undefined): string {
  if (accountId === undefined) return path;
  const sign = path.includes('?') ? '&' : '?';
  return `${path}${sign}accountId=${encodeURIComponent(accountId)}`;
}

/**
 * What operators read of customers is noted in the audit, so it is read once, and again only if they ask for it.
 * @param accountId the customer
 */
export const readOnce = (accountId: string | undefined) =>
  accountId === undefined ? {} : ({ staleTime: Infinity, refetchInterval: false } as const);

/** The API's parameter for that account. */
export const accountQuery = (accountId: string | undefined) =>
  accountId === undefined ? {} : { accountId };
