import { useQuery } from '@tanstack/react-query';
import { EmptyState } from '../components/notice.js';
import { Page } from '../components/page.js';
import { SkeletonRows } from '../components/skeleton.js';
import { Table } from '../components/table.js';
import { ACCOUNT_COLUMNS } from './account-columns.js';
import { accountsQuery } from './account.queries.js';
import { AccountPicker } from './account-picker.js';
import { useIsNarrow } from './media.js';
import type { PageEntry } from './pages.js';
import { Problem } from './problem.js';

const ROW_HEIGHT = 41;

/** Stands in the place of a page that shows one account, until the platform has picked it. */
export function PickAccount({ page: { path, name = '' } }: { page: PageEntry }) {
  const { data, error, isPending } = useQuery(accountsQuery);
  const columns = ACCOUNT_COLUMNS[useIsNarrow() ? 'phone' : 'all'];
  return (
    <Page title={name}>
      <EmptyState title="Which account?">
        <p>Find it by its name or id, or choose it from the list.</p>
        <AccountPicker none="Name or id" />
      </EmptyState>
      <div className="accounts-below">
        <Problem error={error} />
        {isPending && <SkeletonRows rowHeight={ROW_HEIGHT} />}
        {data && (
          <Table
            label="Accounts"
            rows={data}
            keyOf={({ id }) => String(id)}
            hrefOf={({ id }) => `${path}?accountId=${id}`}
            columns={columns}
            rowHeight={ROW_HEIGHT}
          />
        )}
      </div>
    </Page>
  );
}
