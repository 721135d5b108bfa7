import './redeliver-matching.css';
import { skipToken, useMutation, useQuery } from '@tanstack/react-query';
import { RotateCw } from 'lucide-react';
import { useRef, useState } from 'react';
import { Link } from 'wouter';
import { faultsOf } from '../../app/api.js';
import { useCommands } from '../../app/palette.js';
import { useUser } from '../../app/session.js';
import { Dialog } from '../../components/dialog.js';
import { Field } from '../../components/field.js';
import type { Filter } from '../../components/filter-bar.js';
import { localInputOf, timeOfInput } from '../../components/filter-values.js';
import { LocalTime } from '../../components/time.js';
import type { DeliveryFilters } from './deliveries.queries.js';
import {
  countQuery,
  type Selected,
  startReplay,
  startSentence,
} from './redeliver-matching.queries.js';
import { ReplayProgress } from './replay-progress.js';
import { dismiss, remember, useStartedReplays } from './started-replays.js';

const DAY_MS = 86_400_000;

interface Props {
  /** The button's text, and the title of the dialog. */
  label?: string;
  isSmall?: boolean;
  /** All filters of the list, for their labels. */
  filters: readonly Filter[];
  /** The filters that are set. */
  values: DeliveryFilters;
}

/** A button that sends all matching deliveries again. */
export function RedeliverMatching({
  label = 'Redeliver all that match',
  isSmall = false,
  ...selected
}: Props) {
  const { role } = useUser();
  const [isOpen, setIsOpen] = useState(false);
  const open = () => setIsOpen(true);
  // The platform does not send on behalf of an account.
  const isOffered = role === 'account';
  const isUnfinished =
    selected.values['state'] === 'pending' || selected.values['state'] === 'parked';
  useCommands(isOffered && !isUnfinished ? [{ name: label, group: 'Actions', run: open }] : []);
  const count = useFailedCount(selected.values, isOffered && !isSmall);
  // The list sends unfinished deliveries.
  if (!isOffered || isUnfinished) return null;
  const look = isSmall ? 'small' : count > 0 ? 'primary' : undefined;
  return (
    <>
      <button
        type="button"
        className={look}
        title={count > 0 && !selected.values['since'] ? 'Made in the last 24 hours' : undefined}
        aria-haspopup="dialog"
        onClick={open}
      >
        {!isSmall && <RotateCw size={14} aria-hidden />}
        {count > 0 ? `Redeliver ${count.toLocaleString('en')}` : label} …
      </button>
      {isOpen && (
        <Dialog label={label} onClose={() => setIsOpen(false)}>
          <Content {...selected} label={label} close={() => setIsOpen(false)} />
        </Dialog>
      )}
    </>
  );
}

/** How many deliveries would be sent again if the chosen state is a failure; otherwise 0. */
function useFailedCount(values: DeliveryFilters, isOffered: boolean): number {
  const [dayAgo] = useState(() => new Date(Date.now() - DAY_MS).toISOString());
  const isFailed = values['state'] === 'exhausted' || values['state'] === 'cancelled';
  const query = countQuery({ since: dayAgo, ...values });
  const { data } = useQuery({ ...query, ...(!(isOffered && isFailed) && { queryFn: skipToken }) });
  return data?.deliveries ?? 0;
}

/** The progress of the replays started here. */
export function Redeliveries() {
  const { userId } = useUser();
  const started = useStartedReplays(userId);
  if (started.length === 0) return null;
  return (
    <ul className="replays" aria-label="Redeliveries">
      {started.map((id) => (
        <li key={id}>
          <ReplayProgress id={id} onDismiss={() => dismiss(id)} />
        </li>
      ))}
    </ul>
  );
}

/** Shows what would be sent again, then the progress. */
function Content({
  label,
  filters,
  values,
  close,
}: Omit<Props, 'isSmall'> & { close: () => void }) {
  const { userId } = useUser();
  const [sinceInput, setSinceInput] = useState(() =>
    localInputOf(new Date(Date.now() - DAY_MS).toISOString()),
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

  if (start.data !== undefined) {
    return (
      <>
        <h2 className="title">{label}</h2>
        <ReplayProgress id={start.data} />
        <p className="quiet">
          It continues when you close this dialog. This page shows its progress.
        </p>
        <div className="tools">
          <button type="button" autoFocus onClick={close}>
            Close
          </button>
        </div>
      </>
    );
  }

  const error = start.error ?? count.error;
  const faults = faultsOf(error);
  const labelOf = (name: string) => filters.find((one) => one.name === name)?.label ?? name;
  const deliveries = deliveriesText(count.data?.deliveries ?? 0);
  return (
    <>
      <h2 className="title">{label}</h2>
      <dl className="replay-filters">
        {!values['state'] && (
          <div>
            <dt>State</dt>
            <dd>exhausted or cancelled, because no state is chosen</dd>
          </div>
        )}
        {filters.map(
          ({ name, label: filter, kind }) =>
            values[name] !== undefined && (
              <div key={name}>
                <dt>{filter}</dt>
                <dd>
                  <Value text={values[name]} isTime={kind === 'time'} />
                </dd>
              </div>
            ),
        )}
      </dl>
      {values['since'] === undefined && (
        <Field label="Made since" error={since === '' ? 'Choose a time.' : undefined}>
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
              ? 'There is nothing to send again.'
              : `${deliveries} would be sent again.`)}
        {canCount && count.data?.deliveries === 0 && count.data.leftOut === 0 && (
          <> Deliveries that are still being retried are sent automatically.</>
        )}
        {canCount && !!count.data?.leftOut && (
          <>
            {' '}
            {deliveriesText(count.data.leftOut)} more would match, but{' '}
            {count.data.leftOut === 1 ? 'its subscription is' : 'their subscriptions are'} off:{' '}
            <Link href="/subscriptions?enabled=false">switch them on first</Link>.
          </>
        )}
      </p>
      {error && (
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
        Tests are left out. Each delivery keeps its id, so your server may get an id that it has
        handled before.
      </p>
      <div className="tools">
        <button
          type="button"
          className="primary"
          disabled={!canCount || !count.data?.deliveries || start.isPending}
          onClick={() => start.mutate()}
        >
          Redeliver{!!count.data?.deliveries && canCount && ` ${deliveries}`}
        </button>
        <button type="button" onClick={close}>
          Cancel
        </button>
      </div>
    </>
  );
}

const deliveriesText = (count: number): string =>
  count === 1 ? '1 delivery' : `${count.toLocaleString('en')} deliveries`;

function Value({ text, isTime }: { text: string; isTime: boolean }) {
  return isTime && !Number.isNaN(Date.parse(text)) ? <LocalTime at={text} /> : <bdi>{text}</bdi>;
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
