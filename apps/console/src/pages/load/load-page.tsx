import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { AccountName } from '../../app/account-name.js';
import { useIsNarrow } from '../../app/media.js';
import { Problem } from '../../app/problem.js';
import { Refresh } from '../../app/refresh.js';
import { EmptyState } from '../../components/notice.js';
import { Page } from '../../components/page.js';
import { PagedTable } from '../../components/paged-table.js';
import { useSorting } from '../../components/sorting.js';
import type { Column } from '../../components/table.js';
import { ClockTime, useNow } from '../../components/time.js';
import { RANGE_NAMES } from '../overview/ranges.js';
import { RangePicker, useRange } from '../overview/statistics.js';
import { loadsQuery } from './load.queries.js';
import { type AccountLoad, countedSince, distinct } from './loads.js';
import { ShareBar } from './share-bar.js';

const NAME: Column<AccountLoad> = {
  name: 'Account',
  width: 'minmax(0, 3fr)',
  cell: ({ id }) => (
    <span className="line strong">
      <AccountName id={String(id)} />
    </span>
  ),
};

const count = (name: string, of: 'reported' | 'delivered' | 'failed' | 'waiting') => ({
  name,
  width: 'minmax(0, 2fr)',
  isNumber: true as const,
  sortsBy: `-${of}`,
  cell: ({ [of]: number }: AccountLoad) => number.toLocaleString('en'),
});

const WAITING = count('Waiting', 'waiting');

const SHARE: Column<AccountLoad> = {
  name: 'Share of worker time',
  width: 'minmax(0, 3fr)',
  isNumber: true,
  sortsBy: '-share',
  cell: ({ share }) => <ShareBar share={share} />,
};

const COLUMNS = {
  all: [
    NAME,
    count('Events', 'reported'),
    count('Delivered', 'delivered'),
    count('Failed attempts', 'failed'),
    WAITING,
    SHARE,
  ],
  phone: [NAME, WAITING, { ...SHARE, name: 'Share' }],
};

/** The API adds up at most seven days. */
const RANGES = RANGE_NAMES.filter(({ range }) => range !== 'month');

/** What each account causes, for operators. */
export default function LoadPage() {
  const sorting = useSorting('-share');
  const range = useRange();
  const list = useInfiniteQuery({
    ...loadsQuery(range, sorting.order),
    placeholderData: keepPreviousData,
    select: distinct,
  });
  // Until there are figures, the time that they will have.
  const since = useNow((now) => countedSince(range, list.dataUpdatedAt || now));
  const columns = COLUMNS[useIsNarrow() ? 'phone' : 'all'];
  return (
    <Page title="Load" state={<Refresh list={list} />} actions={<RangePicker ranges={RANGES} />}>
      <p className="muted load-note">
        Load by account. Events and attempts since <ClockTime at={since} hasClock />. Waiting: now.
      </p>
      <Problem error={list.error} />
      <PagedTable
        list={list}
        label="Accounts"
        hrefOf={({ id }) => `/accounts/${id}`}
        columns={columns}
        sorting={sorting}
        rowHeight={41}
        empty={<EmptyState title="No account had any load in this period." />}
      />
    </Page>
  );
}
