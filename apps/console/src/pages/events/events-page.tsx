import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { useAccountShown } from '../../app/account.js';
import { ExportList } from '../../app/export-list.js';
import { FilteredList } from '../../app/filtered-list.js';
import { useIsNarrow } from '../../app/media.js';
import { NameOfApplication, useApplicationFilter, useSubscriptionFilter } from '../../app/names.js';
import { Refresh } from '../../app/refresh.js';
import { isUuid } from '../../app/resource-ids.js';
import { isOperator } from '../../app/session-state.js';
import { useMayChange, useUser } from '../../app/session.js';
import { type Filter, useFilters } from '../../components/filter-bar.js';
import { EmptyState } from '../../components/notice.js';
import { Page } from '../../components/page.js';
import type { Column } from '../../components/table.js';
import { ClockTime } from '../../components/time.js';
import { SendMatching, StartedReplays } from '../deliveries/send-matching.js';
import { EVENT_KINDS } from '../subscriptions/event-kinds.js';
import { Erase } from './erase-dialog.js';
import { type Event, eventsQuery } from './events.queries.js';
import { OF_TEXTS } from './filters.js';

const EVENT_KIND: Filter = {
  ...{ name: 'event', label: 'Event', kind: 'choice' },
  choices: Object.keys(EVENT_KINDS),
};
const FURTHER: readonly Filter[] = [
  { name: 'resource', label: 'About', kind: 'choice', choices: ['call', 'sms', 'transcription'] },
  {
    name: 'unmatched',
    label: 'Notified',
    kind: 'choice',
    choices: ['true', 'false'],
    names: { true: 'no subscription', false: 'a subscription' },
  },
];
const TIMES: readonly Filter[] = [
  { name: 'since', label: 'Since', kind: 'time' },
  { name: 'until', label: 'Until', kind: 'time' },
];

const SEARCH = {
  label: 'Search events',
  opensOf: (id: string) => (isUuid(id) ? [{ kind: 'Event', path: `/events/${id}` }] : []),
};

const TIME: Column<Event> = {
  name: 'Time',
  width: '76px',
  cell: ({ createdAt }) => <ClockTime at={createdAt} />,
};

const EVENT: Column<Event> = {
  name: 'Event',
  width: 'minmax(120px, 2fr)',
  cell: ({ event, resource }) => (
    <span className="line">
      {event} <span className="muted">· {resource}</span>
    </span>
  ),
};

const PRODUCER_ID: Column<Event> = {
  name: 'Producer’s id',
  width: 'minmax(0, 2fr)',
  cell: ({ producerId }) => <bdi className="line mono">{producerId ?? '–'}</bdi>,
};

const APPLICATION: Column<Event> = {
  name: 'Application',
  width: 'minmax(0, 2fr)',
  cell: ({ applicationId }) => (
    <bdi className="line">
      {applicationId === undefined ? '–' : <NameOfApplication id={applicationId} />}
    </bdi>
  ),
};

const COLUMNS = [TIME, EVENT, PRODUCER_ID, APPLICATION];
const COLUMNS_OF_PHONE: readonly Column<Event>[] = [
  { ...TIME, width: '64px' },
  {
    ...EVENT,
    width: 'minmax(0, 1fr)',
    cell: (event) => (
      <>
        {EVENT.cell(event)}
        <bdi className="line quiet">{event.producerId ?? '–'}</bdi>
      </>
    ),
  },
  { ...APPLICATION, width: 'minmax(0, 1fr)' },
];

/** All events, whether or not a subscription was notified. */
export default function EventsPage() {
  const { isOwn } = useAccountShown();
  const mayChange = useMayChange() && isOwn;
  const filters = useFilters();
  const isNarrow = useIsNarrow();
  const list = useInfiniteQuery(eventsQuery(filters));
  const ofApplication = useApplicationFilter();
  const missedBy = useSubscriptionFilter('missedBy', 'Missed by');
  const all = [EVENT_KIND, missedBy, ...FURTHER, ofApplication, ...OF_TEXTS, ...TIMES];
  const { missedBy: webhookId, unmatched } = filters;
  return (
    <Page
      title="Events"
      state={<Refresh list={list} />}
      actions={
        <>
          <ExportList
            path="/v1/events"
            what="events"
            values={filters}
            include={{ name: 'data', label: 'With the data of each event' }}
          />
          <Erase />
          {mayChange && webhookId !== undefined && <SendMatching filters={all} values={filters} />}
        </>
      }
    >
      <StartedReplays />
      <FilteredList
        filters={all}
        search={SEARCH}
        list={list}
        label="Events"
        hrefOf={({ id }) => `/events/${id}`}
        columns={isNarrow ? COLUMNS_OF_PHONE : COLUMNS}
        rowHeight={isNarrow ? 52 : 32}
        note={
          mayChange &&
          unmatched === 'true' &&
          webhookId === undefined && (
            <p className="quiet note">
              To send events to a subscription, choose it under “Missed by”.
            </p>
          )
        }
        empty={emptyOf(filters)}
      />
    </Page>
  );
}

function TryBefore() {
  const mayChange = useMayChange();
  if (isOperator(useUser().role)) return <p>They appear here as they are reported.</p>;
  return (
    <p>
      Calls and messages of your applications appear here, even if no subscription gets them.{' '}
      {mayChange && (
        <>
          To try your receiver first, <Link href="/subscriptions">send a test</Link> to a
          subscription.
        </>
      )}
    </p>
  );
}

function emptyOf({ unmatched, ...others }: Record<string, string>) {
  if (Object.keys(others).join() === 'missedBy' && unmatched === undefined) {
    return <EmptyState title="This subscription has missed nothing." />;
  }
  if (Object.keys(others).length > 0 || unmatched === 'false') return undefined;
  return unmatched ? (
    <EmptyState title="Every event was sent to a subscription." />
  ) : (
    <EmptyState title="There are no events yet.">
      <TryBefore />
    </EmptyState>
  );
}
