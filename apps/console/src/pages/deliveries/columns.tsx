import { useNameOfSubscription } from '../../app/names.js';
import { AnswerCode } from '../../components/answer-code.js';
import type { Column } from '../../components/table.js';
import { durationText } from '../../components/time-text.js';
import { ClockTime } from '../../components/time.js';
import { UrlText } from '../../components/url-text.js';
import type { Delivery } from './deliveries.queries.js';
import { StatePill } from './state-pill.js';

const TIME: Column<Delivery> = {
  name: 'Time',
  width: '76px',
  cell: ({ createdAt }) => <ClockTime at={createdAt} />,
};

const STATE: Column<Delivery> = {
  name: 'State',
  width: '100px',
  cell: (delivery) => <StatePill delivery={delivery} />,
};

const EVENT: Column<Delivery> = {
  name: 'Event',
  width: 'minmax(120px, 2fr)',
  cell: ({ event, resource, test }) => (
    <span className="line">
      {event}{' '}
      <span className="muted">
        · {resource}
        {test && ' · test'}
      </span>
    </span>
  ),
};

const SUBSCRIPTION: Column<Delivery> = {
  name: 'Subscription',
  width: 'minmax(0, 3fr)',
  cell: (delivery) => <Name delivery={delivery} />,
};

const PRODUCER_ID: Column<Delivery> = {
  name: 'Producer’s id',
  width: 'minmax(0, 2fr)',
  cell: ({ producerId }) => <bdi className="line mono">{producerId ?? '–'}</bdi>,
};

const ANSWER: Column<Delivery> = {
  name: 'Answer',
  width: '72px',
  cell: ({ lastAttempt }) => (lastAttempt ? <AnswerCode {...lastAttempt} /> : '–'),
};

const TRIES: Column<Delivery> = {
  name: 'Tries',
  width: '36px',
  isNumber: true,
  cell: ({ attempts }) => <span className="muted">{attempts}</span>,
};

const TOOK: Column<Delivery> = {
  name: 'Took',
  width: '64px',
  isNumber: true,
  cell: ({ lastAttempt }) =>
    lastAttempt ? <span className="mono">{durationText(lastAttempt.durationMs)}</span> : '–',
};

const IN_TWO_LINES: Column<Delivery> = {
  ...SUBSCRIPTION,
  width: 'minmax(0, 1fr)',
  cell: (delivery) => (
    <>
      {SUBSCRIPTION.cell(delivery)}
      <span className="line quiet">
        {TIME.cell(delivery)} · {delivery.event} · {delivery.resource}
      </span>
    </>
  ),
};

/** The columns of delivery lists: full width, beside an open delivery, on a phone, and for one event. */
export const COLUMNS = {
  all: [TIME, STATE, EVENT, SUBSCRIPTION, PRODUCER_ID, ANSWER, TRIES, TOOK],
  beside: [
    { ...TIME, width: '64px' },
    { ...STATE, width: '92px' },
    { ...EVENT, width: '128px' },
    { ...SUBSCRIPTION, width: 'minmax(0, 1fr)' },
    { ...ANSWER, width: '64px' },
  ],
  besideInTwoLines: [IN_TWO_LINES, { ...STATE, width: '92px' }, { ...ANSWER, width: '64px' }],
  phone: [IN_TWO_LINES, { ...STATE, width: '88px' }, { ...ANSWER, width: '60px' }],
  ofEvent: [
    {
      ...SUBSCRIPTION,
      cell: (delivery) => (
        <>
          {SUBSCRIPTION.cell(delivery)}
          <bdi className="line quiet mono">{delivery.targetUrl}</bdi>
        </>
      ),
    },
    { ...STATE, width: '88px' },
    { ...ANSWER, width: '60px' },
  ],
} as const satisfies Record<string, readonly Column<Delivery>[]>;

/** The name of the subscription or, without one, the target. */
function Name({ delivery: { webhookId, targetUrl } }: { delivery: Delivery }) {
  const name = useNameOfSubscription(webhookId);
  if (name === undefined) return <UrlText url={targetUrl} />;
  return (
    <bdi className="line strong" title={targetUrl}>
      {name}
    </bdi>
  );
}
