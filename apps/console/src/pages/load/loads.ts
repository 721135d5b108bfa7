import type { InfiniteData } from '@tanstack/react-query';
import type { Schemas } from '../../app/api.js';
import { type Range, startOf } from '../overview/ranges.js';

export type Load = Schemas['AccountLoad'];
/** What an account causes, with the id that lists need. */
export type AccountLoad = Load & { id: number };

/** Removes repeated accounts: one whose figures change between two requests can be on both pages. */
export function distinct<Page extends { rows: Load[] }>({
  pages,
  ...others
}: InfiniteData<Page>): InfiniteData<{ rows: AccountLoad[] }> {
  const seen = new Set<number>();
  const isNew = ({ accountId }: Load) => !seen.has(accountId) && seen.add(accountId);
  return {
    ...others,
    pages: pages.map(({ rows }) => ({
      rows: rows.filter(isNew).map((row) => ({ ...row, id: row.accountId })),
    })),
  };
}

const HOUR_MS = 3_600_000;

/** Since when the API counts a range that ends now: it counts full hours. @param now ms */
export function countedSince(range: Range, now: number): string {
  const since = Date.parse(startOf(range, now));
  return new Date(Math.floor(since / HOUR_MS) * HOUR_MS).toISOString();
}

const percent = new Intl.NumberFormat('en', { style: 'percent', maximumSignificantDigits: 2 });

/** `3.1%` */
export const shareText = (share: number): string => percent.format(share);
