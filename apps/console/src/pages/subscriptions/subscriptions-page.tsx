import { useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { Link } from 'wouter';
import { useCustomer, useMayChangeShown } from '../../app/account.js';
import { useApplicationFilter } from '../../app/names.js';
import { type Subscription, subscriptionsOf } from '../../app/names.queries.js';
import { Problem } from '../../app/problem.js';
import { Refresh } from '../../app/refresh.js';
import { type Filter, FilterBar, useFilters } from '../../components/filter-bar.js';
import { EmptyState, NO_MATCH } from '../../components/notice.js';
import { Page } from '../../components/page.js';
import { SkeletonRows } from '../../components/skeleton.js';
import { matching, STATES, WHOLE_ACCOUNT } from './chosen.js';
import { EVENT_KINDS, RESOURCES } from './event-kinds.js';
import { roomText } from './limits.js';
import { SubscriptionTable } from './subscription-table.js';
import { withActivity } from './subscriptions.queries.js';

const FILTERS: readonly Filter[] = [
  { name: 'text', label: 'Name or target', kind: 'text', isInstant: true },
  { name: 'state', label: 'State', kind: 'choice', choices: STATES },
  { name: 'event', label: 'Event', kind: 'choice', choices: Object.keys(EVENT_KINDS) },
  { name: 'resource', label: 'Resource', kind: 'choice', choices: [...RESOURCES, 'all'] },
];

/** The subscriptions of the account and of its applications. */
export default function SubscriptionsPage() {
  const filters = useFilters();
  const customer = useCustomer();
  const mayChange = useMayChangeShown();
  const { choices = [], names, ...ofApplication } = useApplicationFilter();
  const list = useQuery(withActivity(subscriptionsOf(customer), customer));
  const all = list.data;
  const rows = all && matching(all, filters);
  return (
    <Page
      title="Subscriptions"
      state={<Refresh list={list} />}
      actions={
        mayChange && (
          <Link href="/subscriptions/new" className="button primary">
            <Plus size={15} aria-hidden /> New subscription
          </Link>
        )
      }
    >
      <FilterBar
        filters={[
          ...FILTERS,
          {
            ...ofApplication,
            choices: [WHOLE_ACCOUNT, ...choices],
            names: { [WHOLE_ACCOUNT]: 'whole account', ...names },
          },
        ]}
      />
      <Problem error={list.error} />
      {list.isPending && <SkeletonRows rowHeight={41} />}
      {rows && rows.length > 0 && <SubscriptionTable rows={rows} />}
      {rows?.length === 0 && (all?.length === 0 ? <Nothing mayChange={mayChange} /> : NO_MATCH)}
      <p className="quiet end" role="status">
        {rows && countText(rows.length, all)}
      </p>
    </Page>
  );
}

/** How many are shown, and how many more there may be. */
function countText(shown: number, all: readonly Subscription[]): string {
  const count = all.length;
  const ofAccount = all.filter(({ applicationId }) => applicationId === undefined).length;
  const part = shown === count ? '' : `${shown} of ${count} subscriptions. `;
  return `${part}For the whole account: ${roomText(ofAccount)}`;
}

function Nothing({ mayChange }: { mayChange: boolean }) {
  return (
    <EmptyState title="There are no subscriptions yet.">
      {mayChange && (
        <p>
          A subscription sends the events that you choose to one of your URLs.{' '}
          <Link href="/subscriptions/new">Create the first one</Link>, and send a test.
        </p>
      )}
    </EmptyState>
  );
}
