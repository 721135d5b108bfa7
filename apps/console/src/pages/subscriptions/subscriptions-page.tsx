import './subscriptions.css';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useCallback } from 'react';
import { Link } from 'wouter';
import { faultsOf, RefusedError, sentenceOf } from '../../app/api.js';
import { type Filter, FilterBar, useFilters } from '../../components/filter-bar.js';
import { EmptyState } from '../../components/notice.js';
import { Page } from '../../components/page.js';
import { Table } from '../../components/table.js';
import { COLUMNS } from './columns.js';
import { EVENT_KINDS, RESOURCES } from './event-kinds.js';
import { roomText } from './limits.js';
import { useLiveSubscriptions } from './live-subscriptions.js';
import { type Subscription, subscriptionsAt, subscriptionsQuery } from './subscriptions.queries.js';

const FILTERS: readonly Filter[] = [
  { name: 'event', label: 'Event', kind: 'choice', choices: Object.keys(EVENT_KINDS) },
  { name: 'resource', label: 'Resource', kind: 'choice', choices: [...RESOURCES, 'all'] },
  { name: 'enabled', label: 'Switched on', kind: 'choice', choices: ['true', 'false'] },
  { name: 'applicationId', label: 'Application', kind: 'text', hint: 'Its id' },
];

/** The subscriptions of the account and of its applications. */
export default function SubscriptionsPage() {
  const filters = useFilters(FILTERS);
  const list = useInfiniteQuery(subscriptionsQuery(filters));
  const ofAccount = useQuery(subscriptionsAt(''));
  useLiveSubscriptions();
  const { hasNextPage, isFetching, fetchNextPage, error } = list;
  const loadMore = useCallback(() => {
    if (hasNextPage && !isFetching) void fetchNextPage();
  }, [hasNextPage, isFetching, fetchNextPage]);

  const rows = list.data?.pages.flatMap((page) => page.rows) ?? [];
  const isUnknown = error instanceof RefusedError && error.status === 404;
  const faults = isUnknown ? { applicationId: 'There is no such application.' } : faultsOf(error);
  return (
    <Page title="Subscriptions" actions={<Link href="/subscriptions/new">New subscription</Link>}>
      <FilterBar filters={FILTERS} errors={faults} />
      <p className="quiet room">
        {ofAccount.data && `For the whole account: ${roomText(ofAccount.data.length)}`}
      </p>
      {error && Object.keys(faults).length === 0 && (
        <p className="problem" role="alert">
          {sentenceOf(error)}
        </p>
      )}
      {rows.length > 0 && (
        <Table
          label="Subscriptions"
          rows={rows}
          keyOf={keyOf}
          hrefOf={hrefOf}
          columns={COLUMNS}
          onEnd={loadMore}
        />
      )}
      {list.data && rows.length === 0 && !hasNextPage && (
        <Nothing isFiltered={Object.keys(filters).length > 0} />
      )}
    </Page>
  );
}

const keyOf = ({ id }: Subscription): string => id;
const hrefOf = ({ id }: Subscription): string => `/subscriptions/${id}`;

function Nothing({ isFiltered }: { isFiltered: boolean }) {
  return isFiltered ? (
    <EmptyState title="No subscription matches these filters.">
      <p>Take one of them away.</p>
    </EmptyState>
  ) : (
    <EmptyState title="There are no subscriptions yet.">
      <p>
        A subscription says which events are sent to which address of yours.{' '}
        <Link href="/subscriptions/new">Create the first one</Link>, and send a test.
      </p>
    </EmptyState>
  );
}
