import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { useAccountShown } from '../../app/account.js';
import { FilteredList } from '../../app/filtered-list.js';
import { OfApplication } from '../../app/names.js';
import { type Filter, useFilters } from '../../components/filter-bar.js';
import { EmptyState } from '../../components/notice.js';
import { Page } from '../../components/page.js';
import { type Column, useSelection } from '../../components/table.js';
import { LocalTime, RelativeTime } from '../../components/time.js';
import { type Event, eventsQuery } from './events.queries.js';
import { EVENT_KINDS } from '../subscriptions/event-kinds.js';
import { SendEvents } from './send-events.js';

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
          <OfApplication id={applicationId} none="no application" />
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
  const { isOwn } = useAccountShown();
  const filters = useFilters();
  const list = useInfiniteQuery(eventsQuery(filters));
  const selection = useSelection<Event>(filters, {
    allows: () => true,
    labelOf: ({ id }) => `Select event ${id}`,
  });
  const rows = list.data?.pages.flatMap((page) => page.rows) ?? [];
  const selected = rows.filter(({ id }) => selection.keys.has(id));
  return (
    <Page title="Events">
      <FilteredList
        filters={FILTERS}
        list={list}
        label="Events"
        hrefOf={({ id }) => `/events/${id}`}
        columns={COLUMNS}
        selection={isOwn ? selection : undefined}
        empty={emptyOf(filters)}
      >
        {isOwn && (
          <SendEvents
            events={selected}
            onSent={(ids) =>
              selection.select([...selection.keys].filter((id) => !ids.includes(id)))
            }
          />
        )}
      </FilteredList>
    </Page>
  );
}

function emptyOf({ unmatched, ...others }: Record<string, string>) {
  if (Object.keys(others).length > 0 || unmatched === 'false') return undefined;
  return unmatched ? (
    <EmptyState title="A subscription was told of every event." />
  ) : (
    <EmptyState title="There are no events yet.">
      <p>
        Calls and messages of your applications appear here, even if no subscription is told of
        them. To try out your receiver before, <Link href="/subscriptions">send a test</Link> to a
        subscription.
      </p>
    </EmptyState>
  );
}
