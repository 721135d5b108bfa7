import { OfApplication } from '../../app/names.js';
import { Pill } from '../../components/notice.js';
import type { Column } from '../../components/table.js';
import { useConditions } from '../subscription/use-conditions.js';
import type { Subscription } from './subscriptions.queries.js';

const NAME: Column<Subscription> = {
  name: 'Subscription',
  width: 'minmax(0, 3fr)',
  cell: ({ name, targetUrl }) => <bdi className="line strong">{name ?? targetUrl}</bdi>,
};

const STATE: Column<Subscription> = {
  name: 'State',
  width: '116px',
  cell: (subscription) => <StatePill subscription={subscription} />,
};

/** The columns of lists of subscriptions: all, and those on a phone. */
export const COLUMNS: readonly Column<Subscription>[] = [
  NAME,
  STATE,
  {
    name: 'Event',
    width: 'minmax(0, 2fr)',
    cell: ({ event, resource }) => (
      <span className="line">
        {event} <span className="muted">· {resource}</span>
      </span>
    ),
  },
  {
    name: 'Target',
    width: 'minmax(0, 4fr)',
    cell: ({ targetUrl }) => <bdi className="line mono">{targetUrl}</bdi>,
  },
  {
    name: 'Of',
    width: 'minmax(0, 2fr)',
    cell: ({ applicationId }) => (
      <span className="line muted">
        <OfApplication id={applicationId} none="whole account" />
      </span>
    ),
  },
];
export const COLUMNS_OF_PHONE = [NAME, STATE];

/** The most important thing about a subscription, in a word. */
function StatePill({ subscription }: { subscription: Subscription }) {
  const [{ tone, word }] = useConditions(subscription);
  return <Pill tone={tone}>{word}</Pill>;
}
