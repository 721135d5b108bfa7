import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { AnswerCode } from '../../components/answer-code.js';
import { BUTTONS, Lines, number } from '../../components/lines.js';
import { Pill } from '../../components/notice.js';
import { ClockTime, Day, RelativeTime } from '../../components/time.js';
import { showToast } from '../../components/toast.js';
import { useLastFailure } from '../subscription/condition-text.js';
import { SendMatching } from '../deliveries/send-matching.js';
import {
  usePause,
  useSwitchOnAgain,
  useTest,
  waitingQuery,
} from '../subscription/subscription.queries.js';
import { conditionsOf } from '../subscription/health.js';
import { useConditions } from '../subscription/use-conditions.js';
import { failingOf, isBad } from './failing.js';
import type { Subscription } from './subscriptions.queries.js';

const HEADS = ['Subscription', 'Problem', number('Waiting'), 'Next try', 'Off on', BUTTONS];

/** Fetches the cause and the number of waiting deliveries for at most this many. */
const MOST_READ = 25;

/** The subscriptions that need attention or are paused: one line each, with the next step. */
export function Attention({ subscriptions }: { subscriptions: readonly Subscription[] }) {
  const failing = failingOf(subscriptions);
  const paused = subscriptions.filter((one) => one.enabled && one.paused && !failing.includes(one));
  const rows = [...failing, ...paused];
  return (
    <section className="card attention" aria-labelledby="attention">
      <header>
        <h2 id="attention">Needs attention</h2>
        <span role="status">
          {failing.length > 0 && (
            <Pill tone="bad">
              {failing.length === 1 ? '1 subscription' : `${failing.length} subscriptions`}
            </Pill>
          )}{' '}
          {paused.length > 0 && <Pill tone="waiting">{paused.length} paused</Pill>}
          {rows.length === 0 && (
            <Pill tone={subscriptions.every(isUntested) ? 'neutral' : 'good'}>
              {wellText(subscriptions)}
            </Pill>
          )}
        </span>
        {failing.length > 0 && (
          <div className="actions">
            <SendMatching label="Send what was not delivered" isSmall filters={[]} values={{}} />
          </div>
        )}
      </header>
      {rows.length > 0 && (
        <Lines heads={HEADS}>
          {rows.map((subscription, index) => (
            <Line key={subscription.id} subscription={subscription} isRead={index < MOST_READ} />
          ))}
        </Lines>
      )}
    </section>
  );
}

const isUntested = (one: Subscription): boolean =>
  conditionsOf(one, undefined, Date.now())[0].word === 'untested';

function wellText(subscriptions: readonly Subscription[]): string {
  const count = subscriptions.length;
  if (count === 0) return 'no subscriptions';
  const untested = subscriptions.filter(isUntested).length;
  if (untested === count) return count === 1 ? 'your subscription is untested' : 'all untested';
  if (untested > 0) return `${count - untested} well, ${untested} untested`;
  return count === 1 ? 'your subscription is well' : `all ${count} subscriptions are well`;
}

function Line({ subscription, isRead }: { subscription: Subscription; isRead: boolean }) {
  const { id, name, targetUrl, enabled, disabledAt } = subscription;
  const conditions = useConditions(subscription);
  const bad = conditions.find(isBad);
  const condition = bad ?? conditions[0];
  const isLosing = condition.word === 'losing';
  const offOn = condition.warning?.at ?? disabledAt;
  return (
    <tr>
      <td>
        <span className={`dot ${condition.tone}`} />
        <Link href={`/subscriptions/${id}`} className="strong">
          <bdi>{name ?? targetUrl}</bdi>
        </Link>{' '}
        {name !== undefined && <bdi className="url">{targetUrl}</bdi>}
      </td>
      <td>
        {isRead && bad && <LastAnswer webhookId={id} />}{' '}
        {(!bad || !enabled || isLosing) && condition.word}{' '}
        {condition.since?.at !== undefined && (
          <>
            {isLosing ? 'last at' : 'since'} <ClockTime at={condition.since.at} />
          </>
        )}
      </td>
      <td className="number">{isRead ? <Waiting webhookId={id} /> : '–'}</td>
      <td>
        {condition.next.at !== undefined ? (
          <RelativeTime at={condition.next.at} />
        ) : bad && enabled && !isLosing ? (
          'on schedule'
        ) : (
          '–'
        )}
      </td>
      <td>{offOn === undefined ? '–' : <Day at={offOn} />}</td>
      <td className="number">
        {!bad ? (
          <Resume id={id} />
        ) : enabled ? (
          <SendTest id={id} />
        ) : (
          disabledAt !== undefined && <SwitchOn id={id} disabledAt={disabledAt} />
        )}
      </td>
    </tr>
  );
}

function SendTest({ id }: { id: string }) {
  const { mutate, isPending } = useTest(id);
  const send = () => mutate(undefined, { onSuccess: () => showToast('A test is sent.') });
  return (
    <button type="button" className="small" disabled={isPending} onClick={send}>
      Send test
    </button>
  );
}

function Resume({ id }: { id: string }) {
  const { mutate, isPending } = usePause(id);
  return (
    <button type="button" className="small" disabled={isPending} onClick={() => mutate(false)}>
      Resume
    </button>
  );
}

function SwitchOn({ id, disabledAt }: { id: string; disabledAt: string }) {
  const { mutate, isPending } = useSwitchOnAgain(id);
  return (
    <button
      type="button"
      className="small"
      title="Switches the subscription on, and redelivers what failed or was cancelled"
      disabled={isPending}
      onClick={() => mutate(disabledAt)}
    >
      Switch on
    </button>
  );
}

function LastAnswer({ webhookId }: { webhookId: string }) {
  const last = useLastFailure(webhookId);
  return (
    last && (
      <Link href={`/deliveries/${last.deliveryId}`} title="The newest delivery that failed">
        <AnswerCode {...last.attempt} />
      </Link>
    )
  );
}

function Waiting({ webhookId }: { webhookId: string }) {
  const { data } = useQuery(waitingQuery(webhookId));
  if (!data) return null;
  return data.deliveries === 0 ? (
    '0'
  ) : (
    <Link href={`/deliveries?webhookId=${webhookId}`}>{data.deliveries.toLocaleString('en')}</Link>
  );
}
