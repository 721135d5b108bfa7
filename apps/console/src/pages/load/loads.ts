import type { InfiniteData } from '@tanstack/react-query';
import type { Schemas } from '../../app/api.js';

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

const percent = new Intl.NumberFormat('en', { style: 'percent', maximumSignificantDigits: 2 });

/** `3.1%` */
export const shareText = (share: number): string => percent.format(share);
