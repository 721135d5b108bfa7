import { skipToken, useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { faultsOf, RefusedError } from '../../app/api.js';
import { useUser } from '../../app/session.js';
import { Dialog } from '../../components/dialog.js';
import { Field } from '../../components/field.js';
import type { Filter } from '../../components/filter-bar.js';
import { localInputOf, timeOfInput } from '../../components/filter-values.js';
import { LocalTime } from '../../components/time.js';
import {
  dryRunText,
  leftOutSentence,
  SEND_LABELS,
  SEND_NOTES,
  sendsOf,
  sendText,
} from '../../states/sending.js';
import { ReplayProgress } from './replay-progress.js';
import { useKeys } from './request-keys.js';
import {
  countQuery,
  DAY_MS,
  replayQuery,
  type Selected,
  startReplay,
  startSentence,
} from './send-matching.queries.js';
import { remember } from './started-replays.js';

/** What to send. */
export interface Sending {
  /** All filters of the list, for their labels. */
  filters: readonly Filter[];
  /** The filters that are set: see {@link Selected}. */
  values: Readonly<Record<string, string>>;
}

/** A new subscription may have missed events for as long before it was created. */
const MISSED_MS = 30 * DAY_MS;

/** Shows what would be sent, then the progress. Loaded when it opens. */
export default function SendDialog(props: Sending & { onClose: () => void }) {
  return (
    <Dialog label={SEND_LABELS[sendsOf(props.values)]} onClose={props.onClose}>
      <Content {...props} />
    </Dialog>
  );
}

function Content({ filters, values, onClose }: Sending & { onClose: () => void }) {
  const { userId } = useUser();
  const sends = sendsOf(values);
  const label = SEND_LABELS[sends];
  const isMissed = sends === 'missed';
  const [sinceInput, setSinceInput] = useState(() =>
    localInputOf(new Date(Date.now() - (isMissed ? MISSED_MS : DAY_MS)).toISOString()),
  );
  const since = values['since'] ?? timeOfInput(sinceInput);
  const selected: Selected = { ...values, since };
  const canCount = since !== '';
  const count = useQuery({ ...countQuery(selected), ...(!canCount && { queryFn: skipToken }) });
  const keyOf = useKeys();
  const start = useMutation({
    mutationFn: () => startReplay(selected, keyOf(selected)),
    onSuccess: (id) => remember({ userId, id }),
  });

  if (start.data !== undefined) return <Started id={start.data} {...{ label, onClose }} />;

  const error = start.error ?? count.error;
  const isOff = error instanceof RefusedError && error.problem?.code === 'subscription_inactive';
  const faults = faultsOf(error);
  const labelOf = (name: string) => filters.find((one) => one.name === name)?.label ?? name;
  return (
    <>
      <h2 className="title">{label}</h2>
      <dl className="replay-filters">
        {sends === 'undelivered' && (
          <div>
            <dt>State</dt>
            <dd>All undelivered</dd>
          </div>
        )}
        {filters.map(
          (filter) =>
            values[filter.name] !== undefined && (
              <div key={filter.name}>
                <dt>{filter.label}</dt>
                <dd>
                  <Value filter={filter} text={values[filter.name]!} />
                </dd>
              </div>
            ),
        )}
      </dl>
      {values['since'] === undefined && (
        <Field
          label={isMissed ? 'Accepted since' : 'Made since'}
          error={since === '' ? 'Choose a time.' : undefined}
        >
          <input
            type="datetime-local"
            step="1"
            value={sinceInput}
            onChange={({ target }) => {
              start.reset();
              setSinceInput(target.value);
            }}
          />
        </Field>
      )}
      <p className="match-count" role="status">
        {count.isLoading ? 'Counting …' : count.data && dryRunText(count.data, sends)}
        {canCount && !!count.data?.leftOut && <> {leftOutSentence(count.data)}</>}
        {canCount && !!count.data?.leftOutFor.off && (
          <>
            {' '}
            <Link href="/subscriptions?state=disabled">See disabled subscriptions</Link>
          </>
        )}
        {isOff && (
          <>
            Nothing can be sent, because the subscription is disabled.{' '}
            <Link href={`/subscriptions/${values['missedBy']}`}>Enable it first</Link>
          </>
        )}
      </p>
      {error && !isOff && (
        <div className="problem" role="alert">
          {Object.entries(faults).map(([name, message]) => (
            <p key={name}>
              {labelOf(name)}: {message}
            </p>
          ))}
          {Object.keys(faults).length === 0 && <p>{startSentence(error)}</p>}
        </div>
      )}
      <p className="quiet">{SEND_NOTES[sends]}</p>
      <div className="tools">
        <button
          type="button"
          className="primary"
          disabled={!canCount || !count.data?.deliveries || start.isPending}
          onClick={() => start.mutate()}
        >
          {canCount && count.data?.deliveries ? sendText(count.data.deliveries, sends) : 'Send'}
        </button>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
      </div>
    </>
  );
}

function Started({ id, label, onClose }: { id: string; label: string; onClose: () => void }) {
  const { data } = useQuery(replayQuery(id));
  return (
    <>
      <h2 className="title">{label}</h2>
      <ReplayProgress id={id} />
      {data?.state === 'running' && (
        <p className="quiet">
          It continues when you close this dialog. This page shows its progress.
        </p>
      )}
      <div className="tools">
        <button type="button" autoFocus onClick={onClose}>
          Close
        </button>
      </div>
    </>
  );
}

function Value({ filter: { kind, names = {} }, text }: { filter: Filter; text: string }) {
  const isTime = kind === 'time' && !Number.isNaN(Date.parse(text));
  return isTime ? <LocalTime at={text} /> : <bdi>{names[text] ?? text}</bdi>;
}
