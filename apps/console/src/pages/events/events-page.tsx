import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { useAccountShown } from '../../app/account.js';
import { faultsOf, sentenceOf } from '../../app/api.js';
import { type Filter, FilterBar, useFilters } from '../../components/filter-bar.js';
import { EmptyState } from '../../components/notice.js';
import { Page } from '../../components/page.js';
import { PagedTable } from '../../components/paged-table.js';
import type { Column } from '../../components/table.js';
import { LocalTime, RelativeTime } from '../../components/time.js';
import { type Event, eventsQuery } from './events.queries.js';
import { EVENT_KINDS } from '../subscriptions/event-kinds.js';

const FILTERS: readonly Filter[] = [
  { name: 'event', label: 'Event', kind: 'choice', choices: Object.keys(EVENT_KINDS) },
  { name: 'resource', label: 'About', kind: 'choice', choices: ['call', 'sms', 'transcription'] },
  {
    name: 'unmatched',
    label: 'Told to',
    kind: 'choice',
    choices: ['true', 'false'],
    names: { true: 'nobody', false: 'a subscription' },
  },
  { name: 'applicationId', label: 'Application', kind: 'text', hint: 'Its id' },
  { name: 'producerId', label: "Producer's key", kind: 'text' },
  { name: 'since', label: 'Since', kind: 'time' },
  { name: 'until', label: 'Until', kind: 'time' },
];

const COLUMNS: readonly Column<Event>[] = [
  {
    name: 'Event',
    width: 'minmax(0, 2fr)',
    cell: ({ event, resource, applicationId, producerId }) => (
      <>
        <span className="strong">
          {event} · {resource}
        </span>
        <span className="line quiet">
          {applicationId === undefined ? 'no application' : `application ${applicationId}`}
          {producerId !== undefined && (
            <>
              {' · '}
              <bdi>{producerId}</bdi>
            </>
          )}
        </span>
      </>
    ),
  },
  {
    name: 'Accepted',
    width: 'minmax(0, 1fr)',
    cell: ({ createdAt }) => (
      <>
        <RelativeTime at={createdAt} />
        <span className="line quiet">
          <LocalTime at={createdAt} />
        </span>
      </>
    ),
  },
];

/** What happened, whether or not a subscription was told. */
export default function EventsPage() {
  const { accountId } = useAccountShown();
  const filters = { ...useFilters(FILTERS), ...(accountId !== undefined && { accountId }) };
  const list = useInfiniteQuery(eventsQuery(filters));
  const { error } = list;
  return (
    <Page title="Events">
      <FilterBar filters={FILTERS} errors={faultsOf(error)} />
      <div className="tools">
        <button type="button" onClick={() => void list.refetch()} disabled={list.isFetching}>
          Refresh
        </button>
      </div>
      {error && Object.keys(faultsOf(error)).length === 0 && (
        <p className="problem" role="alert">
          {sentenceOf(error)}
        </p>
      )}
      <PagedTable
        list={list}
        label="Events"
        plural="events"
        hrefOf={hrefOf}
        columns={COLUMNS}
        empty={<Nothing filters={filters} />}
      />
    </Page>
  );
}

const hrefOf = ({ id }: Event): string => `/events/${id}`;

function Nothing({ filters }: { filters: Record<string, string> }) {
  const names = Object.keys(filters);
  if (names.length === 0) {
    return (
      <EmptyState title="There are no events yet.">
        <p>
          Calls and messages of your applications appear here, even if no subscription is told of
          them. To try out your receiver before, <Link href="/subscriptions">send a test</Link> to a
          subscription.
        </p>
      </EmptyState>
    );
  }
  return filters['unmatched'] === 'true' && names.length === 1 ? (
    <EmptyState title="A subscription was told of every event." />
  ) : (
    <EmptyState title="No event matches these filters.">
      <p>Take one of them away, or look further back.</p>
    </EmptyState>
  );
}
