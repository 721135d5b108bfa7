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
import { deliveriesQuery, type Delivery, useRedeliver } from './deliveries.queries.js';
import { useLiveDeliveries } from './live-deliveries.js';
import { RedeliverMatching } from './redeliver-matching.js';
import { isFinished, TONES } from './states.js';

const FILTERS: readonly Filter[] = [
  { name: 'state', label: 'State', kind: 'choice', choices: Object.keys(TONES) },
  { name: 'event', label: 'Event', kind: 'choice', choices: Object.keys(EVENT_KINDS) },
  { name: 'status', label: 'Last answer', kind: 'text', hint: '2xx, 404, timeout …' },
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
    allows: ({ state }) => isFinished(state),
    labelOf: ({ id }) => `Select delivery ${id}`,
  });
  const selected = selection.keys;
  const list = useInfiniteQuery(deliveriesQuery(filters));
  const live = useLiveDeliveries(filters);
  const redeliver = useRedeliver();

  function redeliverSelected(): void {
    redeliver.mutate([...selected], { onSuccess: () => selection.select([]) });
  }
  useCommands(
    selected.size === 0
      ? []
      : [{ name: 'Redeliver the selected', group: 'Actions', run: redeliverSelected }],
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
            disabled={selected.size === 0 || redeliver.isPending}
            onClick={redeliverSelected}
          >
            Redeliver{selected.size > 0 && ` ${selected.size} selected`}
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
