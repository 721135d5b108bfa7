import './subscriptions.css';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { FilteredList } from '../../app/filtered-list.js';
import { type Filter, useFilters } from '../../components/filter-bar.js';
import { EmptyState } from '../../components/notice.js';
import { Page } from '../../components/page.js';
import { COLUMNS } from './columns.js';
import { EVENT_KINDS, RESOURCES } from './event-kinds.js';
import { roomText } from './limits.js';
import { useLiveSubscriptions } from './live-subscriptions.js';
import { subscriptionsAt, subscriptionsQuery } from './subscriptions.queries.js';

const FILTERS: readonly Filter[] = [
  { name: 'event', label: 'Event', kind: 'choice', choices: Object.keys(EVENT_KINDS) },
  { name: 'resource', label: 'Resource', kind: 'choice', choices: [...RESOURCES, 'all'] },
  { name: 'enabled', label: 'Switched on', kind: 'choice', choices: ['true', 'false'] },
  { name: 'applicationId', label: 'Application', kind: 'text', hint: 'Its id' },
];

/** The subscriptions of the account and of its applications. */
export default function SubscriptionsPage() {
  const filters = useFilters();
  const list = useInfiniteQuery(subscriptionsQuery(filters));
  const ofAccount = useQuery(subscriptionsAt(''));
  useLiveSubscriptions();
  return (
    <Page title="Subscriptions" actions={<Link href="/subscriptions/new">New subscription</Link>}>
      <FilteredList
        filters={FILTERS}
        list={list}
        label="Subscriptions"
        hrefOf={({ id }) => `/subscriptions/${id}`}
        columns={COLUMNS}
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
