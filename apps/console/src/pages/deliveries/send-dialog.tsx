import { skipToken, useMutation, useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { outlookText } from '#libs/client';
import { Link } from 'wouter';
import { faultsOf, RefusedError } from '../../app/api.js';
import { useUser } from '../../app/session.js';
import { Dialog } from '../../components/dialog.js';
import { Field } from '../../components/field.js';
import type { Filter } from '../../components/filter-bar.js';
import { localInputOf, timeOfInput } from '../../components/filter-values.js';
import { LocalTime } from '../../components/time.js';
import { ReplayProgress } from './replay-progress.js';
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
  /** The title. */
  label: string;
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
    <Dialog label={props.label} onClose={props.onClose}>
      <Content {...props} />
    </Dialog>
  );
}

function Content({ label, filters, values, onClose }: Sending & { onClose: () => void }) {
  const { userId } = useUser();
  const isMissed = values['missedBy'] !== undefined;
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
  const textOf = isMissed ? eventsText : deliveriesText;
  const all = textOf(count.data?.deliveries ?? 0);
  const outlook = count.data && outlookText(count.data);
  return (
    <>
      <h2 className="title">{label}</h2>
      <dl className="replay-filters">
        {!isMissed && !values['state'] && (
          <div>
            <dt>State</dt>
            <dd>waiting, failed or cancelled, because no state is chosen</dd>
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
        {count.isLoading
          ? 'Counting …'
          : count.data &&
            (count.data.deliveries === 0
              ? 'There is nothing to send.'
              : `${all} would be sent${outlook ? `: ${outlook}` : ''}.`)}
        {canCount && !!count.data?.leftOut && (
          <>
            {' '}
            {textOf(count.data.leftOut)} more would match, but{' '}
            {count.data.leftOut === 1 ? 'its subscription is' : 'their subscriptions are'} off:{' '}
            <Link href="/subscriptions?enabled=false">switch them on first</Link>.
          </>
        )}
        {isOff && (
          <>
            Nothing can be sent, because the subscription is off:{' '}
            <Link href={`/subscriptions/${values['missedBy']}`}>switch it on first</Link>.
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
      <p className="quiet">
        {isMissed
          ? 'The subscription gets each event that it is for now and has no delivery of.'
          : 'Tests are left out. Each delivery keeps its id, so your server may get an id that it has handled before. What waits for its next attempt keeps its schedule, and a pause or an open circuit still holds it back.'}
      </p>
      <div className="tools">
        <button
          type="button"
          className="primary"
          disabled={!canCount || !count.data?.deliveries || start.isPending}
          onClick={() => start.mutate()}
        >
          Send{!!count.data?.deliveries && canCount && ` ${all}`}
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

const deliveriesText = (count: number): string =>
  count === 1 ? '1 delivery' : `${count.toLocaleString('en')} deliveries`;

const eventsText = (count: number): string =>
  count === 1 ? '1 event' : `${count.toLocaleString('en')} events`;

function Value({ filter: { kind, names = {} }, text }: { filter: Filter; text: string }) {
  const isTime = kind === 'time' && !Number.isNaN(Date.parse(text));
  return isTime ? <LocalTime at={text} /> : <bdi>{names[text] ?? text}</bdi>;
}

/** One key for each selection, so that repeating a request after a lost answer starts nothing twice. */
function useKeys(): (selected: Selected) => string {
  const keys = useRef(new Map<string, string>());
  return (selected) => {
    const request = JSON.stringify(selected);
    const key = keys.current.get(request) ?? newKey();
    keys.current.set(request, key);
    return key;
  };
}

/** `randomUUID` exists only on pages loaded over TLS. */
function newKey(): string {
  return [...crypto.getRandomValues(new Uint32Array(4))].map((n) => n.toString(36)).join('-');
}
