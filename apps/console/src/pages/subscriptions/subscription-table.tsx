import { useSameAccount } from '../../app/account.js';
import { useIsNarrow } from '../../app/media.js';
import { useSorting } from '../../components/sorting.js';
import { Table } from '../../components/table.js';
import { sorted } from './chosen.js';
import { COLUMNS } from './columns.js';
import type { Subscription } from '../../app/names.queries.js';

/** Subscriptions, in the order of the address; by default, the worst state first. */
export function SubscriptionTable({
  rows,
  isOfApplication = false,
}: {
  rows: readonly Subscription[];
  isOfApplication?: boolean;
}) {
  const sorting = useSorting('state');
  const isNarrow = useIsNarrow();
  const inAccount = useSameAccount();
  const columns = isOfApplication ? COLUMNS.ofApplication : COLUMNS.all;
  return (
    <Table
      label="Subscriptions"
      rows={sorted(rows, sorting.order)}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => inAccount(`/subscriptions/${id}`)}
      columns={isNarrow ? COLUMNS.phone : columns}
      sorting={sorting}
      rowHeight={isNarrow ? 52 : 41}
    />
  );
}
