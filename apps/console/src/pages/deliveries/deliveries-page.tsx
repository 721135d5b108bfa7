import './deliveries.css';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { useAccountShown } from '../../app/account.js';
import { FilteredList } from '../../app/filtered-list.js';
import { useCommands } from '../../app/palette.js';
import { type Filter, useFilters } from '../../components/filter-bar.js';
import { EmptyState } from '../../components/notice.js';
import { Page } from '../../components/page.js';
import { useSelection } from '../../components/table.js';
import { EVENT_KINDS } from '../subscriptions/event-kinds.js';
import { COLUMNS } from './columns.js';
import { deliveriesQuery, type Delivery } from './deliveries.queries.js';
import { useLiveDeliveries } from './live-deliveries.js';
import { RedeliverMatching } from './redeliver-matching.js';
import { useSendNow } from './send-now.queries.js';
import { canBeSent, TONES } from './states.js';

const ERRORS = ['timeout', 'refused', 'dns', 'reset', 'tls', 'blocked', 'protocol'] as const;

const FILTERS: readonly Filter[] = [
  { name: 'state', label: 'State', kind: 'choice', choices: Object.keys(TONES) },
  { name: 'event', label: 'Event', kind: 'choice', choices: Object.keys(EVENT_KINDS) },
  {
    name: 'status',
    label: 'Last answer',
    kind: 'text',
    choices: ['failed', '2xx', '4xx', '5xx', ...ERRORS],
    hint: 'failed, 404, timeout …',
  },
  { name: 'webhookId', label: 'Subscription', kind: 'text', hint: 'Its id' },
  { name: 'applicationId', label: 'Application', kind: 'text', hint: 'Its id' },
  { name: 'since', label: 'Since', kind: 'time' },
  { name: 'until', label: 'Until', kind: 'time' },
];

/** The deliveries of all subscriptions. */
export default function DeliveriesPage() {
  const { isOwn } = useAccountShown();
  const filters = useFilters();
  const selection = useSelection<Delivery>(filters, {
    allows: canBeSent,
    labelOf: ({ id }) => `Select delivery ${id}`,
  });
  const list = useInfiniteQuery(deliveriesQuery(filters));
  const live = useLiveDeliveries(filters);
  const send = useSendNow();

  const rows = list.data?.pages.flatMap((page) => page.rows) ?? [];
  const chosen = rows.filter(({ id }) => selection.keys.has(id));
  function sendChosen(): void {
    send.mutate(chosen, { onSuccess: () => selection.select([]) });
  }
  useCommands(
    chosen.length === 0
      ? []
      : [{ name: 'Send the selected now', group: 'Actions', run: sendChosen }],
  );

  return (
    <Page title="Deliveries">
      <FilteredList
        filters={FILTERS}
        list={list}
        label="Deliveries"
        hrefOf={({ id }) => `/deliveries/${id}`}
        columns={COLUMNS}
        selection={isOwn ? selection : undefined}
        empty={Object.keys(filters).length === 0 && <Nothing />}
      >
        {isOwn && (
          <button
            type="button"
            disabled={chosen.length === 0 || send.isPending}
            onClick={sendChosen}
          >
            Send {chosen.length > 0 && chosen.length} selected now
          </button>
        )}
        {isOwn && <RedeliverMatching filters={FILTERS} values={filters} />}
        <span className="arrivals" role="status">
          {live.held > 0 && (
            <button type="button" className="primary" onClick={live.show}>
              {live.held} new
            </button>
          )}
        </span>
      </FilteredList>
    </Page>
  );
}

function Nothing() {
  return (
    <EmptyState title="There are no deliveries yet.">
      <p>
        A delivery begins when an event is reported that a subscription matches.{' '}
        <Link href="/subscriptions/new">Create a subscription</Link>, and test it: its first
        delivery appears here by itself.
      </p>
    </EmptyState>
  );
}
