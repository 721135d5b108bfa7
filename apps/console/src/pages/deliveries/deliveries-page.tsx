import './deliveries.css';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, Redirect, useSearchParams } from 'wouter';
import { useAccountShown } from '../../app/account.js';
import { ExportList } from '../../app/export-list.js';
import { FilteredList } from '../../app/filtered-list.js';
import { useFits, useIsNarrow } from '../../app/media.js';
import { useApplicationFilter, useSubscriptionFilter } from '../../app/names.js';
import { useCommands } from '../../app/commands.js';
import { Refresh } from '../../app/refresh.js';
import { isUuid } from '../../app/resource-ids.js';
import { useMayChange, useUser } from '../../app/session.js';
import { type Filter, useFilters } from '../../components/filter-bar.js';
import { EmptyState } from '../../components/notice.js';
import { Page } from '../../components/page.js';
import { useSelection } from '../../components/table.js';
import { OF_TEXTS } from '../events/filters.js';
import { EVENT_KINDS } from '../subscriptions/event-kinds.js';
import { COLUMNS } from './columns.js';
import { deliveriesQuery, type Delivery } from './deliveries.queries.js';
import { useLiveDeliveries } from './live-deliveries.js';
import { Panel } from './panel.js';
import { SendMatching, StartedReplays } from './send-matching.js';
import { useSendNow } from './send-now.queries.js';
import { canBeSent, STATE_WORDS } from '../../states/delivery-state.js';
import { selectedText } from '../../states/sending.js';

const RESULTS = {
  failed: 'any failure',
  '2xx': '2xx',
  '3xx': '3xx',
  '4xx': '4xx',
  '5xx': '5xx',
  ...Object.fromEntries(
    ['timeout', 'refused', 'dns', 'reset', 'tls', 'blocked', 'protocol'].map((one) => [one, one]),
  ),
};

const FILTERS: readonly Filter[] = [
  {
    name: 'state',
    label: 'State',
    kind: 'choice',
    choices: Object.keys(STATE_WORDS),
    names: STATE_WORDS,
  },
  { name: 'event', label: 'Event', kind: 'choice', choices: Object.keys(EVENT_KINDS) },
  {
    name: 'status',
    label: 'Answer',
    kind: 'choice',
    choices: Object.keys(RESULTS),
    names: RESULTS,
    accepts: /^[1-5]\d\d$/,
  },
];
const TIMES: readonly Filter[] = [
  { name: 'since', label: 'Since', kind: 'time' },
  { name: 'until', label: 'Until', kind: 'time' },
];

const SEARCH = {
  label: 'Search deliveries',
  opensOf: (id: string) => (isUuid(id) ? [{ kind: 'Delivery', path: `/deliveries/${id}` }] : []),
};

/** The parameter of the address that holds the id of the open delivery. */
const OPEN = 'open';

/** The deliveries of all subscriptions. */
export default function DeliveriesPage() {
  const { isOwn } = useAccountShown();
  const mayChange = useMayChange() && isOwn;
  const { [OPEN]: openId, ...filters } = useFilters();
  const ofSubscription = useSubscriptionFilter();
  const ofApplication = useApplicationFilter();
  const all = [...FILTERS, ofSubscription, ofApplication, ...OF_TEXTS, ...TIMES];
  const selection = useSelection<Delivery>(filters, {
    allows: canBeSent,
    labelOf: ({ id }) => `Select delivery ${id}`,
  });
  const list = useInfiniteQuery(deliveriesQuery(filters));
  useLiveDeliveries(filters);
  const send = useSendNow();

  const isNarrow = useIsNarrow();
  const hasRoomBeside = useFits(1_100);
  const isWide = useFits(1_400);
  const [search, setSearch] = useSearchParams();
  function open(id: string | undefined): void {
    const next = new URLSearchParams(search);
    if (id === undefined) next.delete(OPEN);
    else next.set(OPEN, id);
    // Moving between rows adds only one history entry.
    setSearch(next, { replace: openId !== undefined && id !== undefined });
  }

  const rows = list.data?.pages.flatMap((page) => page.rows) ?? [];
  const at = rows.findIndex(({ id }) => id === openId);
  const stepTo = (row: Delivery | undefined) => at >= 0 && row && (() => open(row.id));
  const sendable = rows.filter(canBeSent);
  const chosen = mayChange ? rows.filter(({ id }) => selection.keys.has(id)) : [];
  const sendChosenText = selectedText(chosen.map(({ state }) => state));
  function sendChosen(): void {
    send.mutate(chosen, { onSuccess: () => selection.select([]) });
  }
  useCommands(
    chosen.length === 0 ? [] : [{ name: sendChosenText, group: 'Actions', run: sendChosen }],
  );

  if (!hasRoomBeside && openId !== undefined)
    return <Redirect to={`/deliveries/${openId}`} replace />;
  return (
    <Page
      title="Deliveries"
      state={<Refresh list={list} />}
      actions={
        <>
          <ExportList
            path="/v1/deliveries"
            what="deliveries"
            values={filters}
            include={{ name: 'notification', label: 'With the notification of each delivery' }}
          />
          {isOwn && <SendMatching filters={all} values={filters} />}
        </>
      }
    >
      <StartedReplays />
      <FilteredList
        filters={all}
        search={SEARCH}
        list={list}
        label="Deliveries"
        hrefOf={({ id }) => `/deliveries/${id}`}
        {...shapeOf({ isNarrow, isWide, isOpen: openId !== undefined })}
        openRow={openId}
        note={
          openId !== undefined &&
          rows.length > 0 &&
          at < 0 && <p className="quiet note">The open delivery is not in the rows shown.</p>
        }
        onOpen={hasRoomBeside ? ({ id }) => open(id) : undefined}
        beside={
          openId !== undefined && (
            <Panel
              id={openId}
              onPrevious={stepTo(rows[at - 1]) || undefined}
              onNext={stepTo(rows[at + 1]) || undefined}
              onClose={() => open(undefined)}
            />
          )
        }
        selection={mayChange && !isNarrow ? selection : undefined}
        empty={Object.keys(filters).length === 0 && <Nothing />}
      >
        {chosen.length === 0 &&
          mayChange &&
          filters['state'] === 'parked' &&
          sendable.length > 0 && (
            <button type="button" disabled={send.isPending} onClick={() => send.mutate(sendable)}>
              Send all {sendable.length} shown now
            </button>
          )}
        {chosen.length > 0 && (
          <button type="button" disabled={send.isPending} onClick={sendChosen}>
            {sendChosenText}
          </button>
        )}
      </FilteredList>
    </Page>
  );
}

/** Rows get two lines where one would cut off names. */
function shapeOf({ isNarrow, isWide, isOpen }: Record<'isNarrow' | 'isWide' | 'isOpen', boolean>) {
  if (isNarrow) return { columns: COLUMNS.phone, rowHeight: 52 };
  if (!isOpen) return { columns: COLUMNS.all, rowHeight: 32 };
  if (isWide) return { columns: COLUMNS.beside, rowHeight: 32 };
  return { columns: COLUMNS.besideInTwoLines, rowHeight: 44 };
}

function Nothing() {
  const mayChange = useMayChange();
  return (
    <EmptyState title="There are no deliveries yet.">
      <p>
        A delivery starts when a reported event matches a subscription.{' '}
        {useUser().role === 'account' && mayChange && (
          <>
            <Link href="/subscriptions/new">Create a subscription</Link>, and test it: its first
            delivery appears here automatically.
          </>
        )}
      </p>
    </EmptyState>
  );
}
