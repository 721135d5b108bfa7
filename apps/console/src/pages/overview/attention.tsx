import { lazy, Suspense, useState } from 'react';
import { Link } from 'wouter';
import type { Schemas } from '../../app/api.js';
import type { Subscription } from '../../app/names.queries.js';
import { useMayChange } from '../../app/session.js';
import { AnswerCode } from '../../components/answer-code.js';
import { BUTTONS, Lines, number } from '../../components/lines.js';
import { Pill } from '../../components/notice.js';
import { ClockTime, Day, RelativeTime } from '../../components/time.js';
import { showToast } from '../../components/toast.js';
import { type Disabled, useEnable } from '../subscription/enable.queries.js';
import { useLastFailure, useLastFailures } from '../subscription/last-failure.js';
import { SendMatching } from '../deliveries/send-matching.js';
import { usePause, useTest } from '../subscription/subscription.queries.js';
import { needingAttention, quietText } from '../../states/attention.js';
import type { Condition } from '../../states/subscription-state.js';
import { useConditions } from '../../states/use-conditions.js';

const EnabledDialog = lazy(() => import('../subscription/enabled-dialog.js'));

/** Looks up older failures for at most this many. */
const MOST_READ = 25;

const HEADS = ['Subscription', 'Problem', number('Waiting'), 'Next try', 'Disabled on', BUTTONS];

/** The subscriptions that need attention or are paused: one line each, with the next step. */
export function Attention({
  subscriptions,
  waiting,
}: {
  subscriptions: readonly Subscription[];
  /** How many deliveries wait, by subscription. */
  waiting: Readonly<Record<string, number>>;
}) {
  const [enabled, setEnabled] = useState<Disabled>();
  const enable = useEnable(setEnabled);
  const failing = needingAttention(subscriptions);
  const paused = subscriptions.filter((one) => one.enabled && one.paused && !failing.includes(one));
  const rows = [...failing, ...paused];
  const quiet = quietText(subscriptions);
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
          {rows.length === 0 && <Pill tone={quiet.tone}>{quiet.text}</Pill>}
        </span>
        {failing.length > 0 && (
          <div className="actions">
            <SendMatching isSmall filters={[]} values={{}} />
          </div>
        )}
      </header>
      {rows.length > 0 && <Rows rows={rows} waiting={waiting} onEnable={enable.mutate} />}
      {/* Here, because the line goes once the subscription is enabled. */}
      {enabled && (
        <Suspense>
          <EnabledDialog of={enabled} onClose={() => setEnabled(undefined)} />
        </Suspense>
      )}
    </section>
  );
}

function Rows({
  rows,
  waiting,
  onEnable,
}: {
  rows: readonly Subscription[];
  waiting: Readonly<Record<string, number>>;
  onEnable: (one: Disabled) => void;
}) {
  const failures = useLastFailures();
  return (
    <Lines heads={HEADS}>
      {rows.map((subscription, index) => (
        <Line
          key={subscription.id}
          subscription={subscription}
          waiting={waiting[subscription.id] ?? 0}
          failure={
            failures && (failures.get(subscription.id) ?? (index < MOST_READ ? 'older' : undefined))
          }
          onEnable={onEnable}
        />
      ))}
    </Lines>
  );
}

/** A delivery that failed; `older`: it is not among the account's newest; undefined while they are read. */
type Failure = Schemas['Delivery'] | 'older' | undefined;

function Line({
  subscription,
  waiting,
  failure,
  onEnable,
}: {
  subscription: Subscription;
  waiting: number;
  failure: Failure;
  onEnable: (one: Disabled) => void;
}) {
  const { id, name, targetUrl } = subscription;
  const conditions = useConditions(subscription);
  const condition = conditions.find(({ needsAttention }) => needsAttention) ?? conditions[0];
  const { tone, word, api, since, next, disables } = condition;
  const mayChange = useMayChange();
  return (
    <tr>
      <td>
        <span className={`dot ${tone}`} />
        <Link href={`/subscriptions/${id}`} className="strong">
          <bdi>{name ?? targetUrl}</bdi>
        </Link>{' '}
        {name !== undefined && <bdi className="url">{targetUrl}</bdi>}
      </td>
      <td>
        <span title={api}>
          {condition.step === 'send again' ? (
            <>{subscription.health?.lost?.toLocaleString('en')} lost</>
          ) : (
            word
          )}
        </span>{' '}
        {condition.needsAttention &&
          failure &&
          (failure === 'older' ? <OlderAnswer webhookId={id} /> : <Answer of={failure} />)}{' '}
        {since?.at !== undefined && (
          <span title={since.text}>
            {condition.step === 'send again' ? 'last at' : 'since'} <ClockTime at={since.at} />
          </span>
        )}
      </td>
      <td className="number">
        {waiting === 0 ? (
          '0'
        ) : (
          <Link href={`/deliveries?webhookId=${id}`}>{waiting.toLocaleString('en')}</Link>
        )}
      </td>
      <td>{next.at === undefined ? next.brief : <RelativeTime at={next.at} />}</td>
      <td>{disables?.at === undefined ? '–' : <Day at={disables.at} />}</td>
      <td className="number">
        {mayChange && (
          <NextStep subscription={subscription} step={condition.step} onEnable={onEnable} />
        )}
      </td>
    </tr>
  );
}

function NextStep({
  subscription: { id, disabledAt },
  step,
  onEnable,
}: {
  subscription: Subscription;
  step: Condition['step'];
  onEnable: (one: Disabled) => void;
}) {
  switch (step) {
    case 'test':
      return <SendTest id={id} />;
    case 'resume':
      return <Resume id={id} />;
    case 'enable':
      return (
        disabledAt !== undefined && (
          <button type="button" className="small" onClick={() => onEnable({ id, disabledAt })}>
            Enable
          </button>
        )
      );
    case 'send again':
      return (
        <Link href={`/deliveries?webhookId=${id}&state=exhausted`} className="button small">
          Send again
        </Link>
      );
    case 'see waiting':
    case undefined:
      return null;
  }
}

function SendTest({ id }: { id: string }) {
  const { mutate, isPending } = useTest(id);
  const send = () => mutate(undefined, { onSuccess: () => showToast('Test sent.') });
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

function OlderAnswer({ webhookId }: { webhookId: string }) {
  const last = useLastFailure(webhookId);
  return last && <Answer of={last} />;
}

function Answer({ of: { id, lastAttempt } }: { of: Schemas['Delivery'] }) {
  return (
    <Link href={`/deliveries/${id}`} title="The newest delivery that failed">
      <AnswerCode {...lastAttempt} />
    </Link>
  );
}
