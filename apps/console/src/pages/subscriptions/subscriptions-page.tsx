import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { FilteredList } from '../../app/filtered-list.js';
import { useIsNarrow } from '../../app/media.js';
import { useApplicationFilter } from '../../app/names.js';
import { type Filter, useFilters } from '../../components/filter-bar.js';
import { EmptyState } from '../../components/notice.js';
import { Page } from '../../components/page.js';
import { COLUMNS, COLUMNS_OF_PHONE } from './columns.js';
import { EVENT_KINDS, RESOURCES } from './event-kinds.js';
import { roomText } from './limits.js';
import { useLiveSubscriptions } from './live-subscriptions.js';
import { subscriptionsAt, subscriptionsQuery } from './subscriptions.queries.js';

const FILTERS: readonly Filter[] = [
  { name: 'event', label: 'Event', kind: 'choice', choices: Object.keys(EVENT_KINDS) },
  { name: 'resource', label: 'Resource', kind: 'choice', choices: [...RESOURCES, 'all'] },
  {
    name: 'enabled',
    label: 'Switched on',
    kind: 'choice',
    choices: ['true', 'false'],
    names: { true: 'on', false: 'off' },
  },
];

/** The subscriptions of the account and of its applications. */
export default function SubscriptionsPage() {
  const filters = useFilters();
  const ofApplication = useApplicationFilter();
  const list = useInfiniteQuery(subscriptionsQuery(filters));
  const ofAccount = useQuery(subscriptionsAt(''));
  useLiveSubscriptions();
  return (
    <Page
      title="Subscriptions"
      actions={
        <Link href="/subscriptions/new" className="button primary">
          New subscription
        </Link>
      }
    >
      <FilteredList
        filters={[...FILTERS, ofApplication]}
        list={list}
        label="Subscriptions"
        hrefOf={({ id }) => `/subscriptions/${id}`}
        columns={useIsNarrow() ? COLUMNS_OF_PHONE : COLUMNS}
        rowHeight={41}
        empty={Object.keys(filters).length === 0 && <Nothing />}
      >
        <span className="quiet">
          {ofAccount.data && `For the whole account: ${roomText(ofAccount.data.length)}`}
        </span>
      </FilteredList>
    </Page>
  );
}

function Nothing() {
  return (
    <EmptyState title="There are no subscriptions yet.">
      <p>
        A subscription says which events are sent to which address of yours.{' '}
        <Link href="/subscriptions/new">Create the first one</Link>, and send a test.
      </p>
    </EmptyState>
  );
}
