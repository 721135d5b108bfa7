import { Page } from '../components/page.js';
import { ACCOUNT_COLUMNS } from './account-columns.js';
import { AccountSearch, FoundAccounts, useWantedAccount } from './found-accounts.js';
import { useIsNarrow } from './media.js';
import type { PageEntry } from './pages.js';

/** Replaces a page that shows one account until the platform picks one. */
export default function PickAccount({ page: { path, name = '' } }: { page: PageEntry }) {
  const columns = ACCOUNT_COLUMNS[useIsNarrow() ? 'phone' : 'all'];
  return (
    <Page title={name} state={<span className="muted">Which account?</span>}>
      <AccountSearch />
      <FoundAccounts
        wanted={useWantedAccount()}
        label="Accounts"
        hrefOf={({ id }) => `${path}?accountId=${id}`}
        columns={columns}
        rowHeight={41}
      />
    </Page>
  );
}
