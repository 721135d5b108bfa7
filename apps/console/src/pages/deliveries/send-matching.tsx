import './send-matching.css';
import { skipToken, useQuery } from '@tanstack/react-query';
import { RotateCw } from 'lucide-react';
import { lazy, Suspense, useId, useState } from 'react';
import { useCommands } from '../../app/commands.js';
import { useMayChange, useUser } from '../../app/session.js';
import { SEND_LABELS, sendsOf, shortSendText } from '../../states/sending.js';
import { ReplayProgress } from './replay-progress.js';
import type { Sending } from './send-dialog.js';
import { countQuery, DAY_MS } from './send-matching.queries.js';
import { dismiss, useStartedReplays } from './started-replays.js';

const SendDialog = lazy(() => import('./send-dialog.js'));

/** Only these select what a subscription has missed. */
const OF_MISSED = ['missedBy', 'since', 'until'];
/** These do not select deliveries to send. */
const SEARCHES = ['contains', 'producerId'];

/** The labels of the chosen filters that would not hold for what is sent. */
function obstaclesOf({ filters, values }: Sending): string[] {
  const isObstacle = (name: string) =>
    values['missedBy'] === undefined ? SEARCHES.includes(name) : !OF_MISSED.includes(name);
  return filters.flatMap(({ name, label }) =>
    values[name] !== undefined && isObstacle(name) ? [`“${label}”`] : [],
  );
}

const listed = new Intl.ListFormat('en');

/** A button that sends all deliveries that match, or all events that a subscription has missed. */
export function SendMatching({ isSmall = false, ...sending }: Sending & { isSmall?: boolean }) {
  const { role } = useUser();
  const [isOpen, setIsOpen] = useState(false);
  const open = () => setIsOpen(true);
  const { values } = sending;
  const sends = sendsOf(values);
  const label = SEND_LABELS[sends];
  // The platform does not send on behalf of an account. Parked deliveries are blocked, and only each by itself is sent in
  // spite of that.
  const isShown = useMayChange() && role === 'account' && values['state'] !== 'parked';
  const obstacles = obstaclesOf(sending);
  const isOffered = isShown && obstacles.length === 0;
  const reasonId = useId();
  useCommands(isOffered ? [{ name: label, group: 'Actions', run: open }] : []);
  const count = useFailedCount(values, isOffered && !isSmall);
  if (!isShown) return null;
  const look = isSmall ? 'small' : count > 0 ? 'primary' : undefined;
  return (
    <>
      {!isOffered && (
        <span id={reasonId} className="quiet send-obstacle">
          Remove the filter{obstacles.length > 1 && 's'} {listed.format(obstacles)} to send these.
        </span>
      )}
      <button
        type="button"
        className={look}
        disabled={!isOffered}
        aria-describedby={isOffered ? undefined : reasonId}
        title={count > 0 && !values['since'] ? 'Made in the last 24 hours' : undefined}
        aria-haspopup="dialog"
        onClick={open}
      >
        {!isSmall && <RotateCw size={14} aria-hidden />}
        {count > 0 ? shortSendText(count, sends) : label} …
      </button>
      {isOpen && (
        <Suspense>
          <SendDialog {...sending} onClose={() => setIsOpen(false)} />
        </Suspense>
      )}
    </>
  );
}

/** How many deliveries would be sent if the chosen state is a failure; otherwise 0. */
function useFailedCount(values: Sending['values'], isOffered: boolean): number {
  const [dayAgo] = useState(() => new Date(Date.now() - DAY_MS).toISOString());
  const isFailed = values['state'] === 'exhausted' || values['state'] === 'cancelled';
  const query = countQuery({ since: dayAgo, ...values });
  const { data } = useQuery({ ...query, ...(!(isOffered && isFailed) && { queryFn: skipToken }) });
  return data?.deliveries ?? 0;
}

/** The progress of what was started here. */
export function StartedReplays() {
  const { userId } = useUser();
  const started = useStartedReplays(userId);
  if (started.length === 0) return null;
  return (
    <ul className="replays" aria-label="Sent together">
      {started.map((id) => (
        <li key={id}>
          <ReplayProgress id={id} onDismiss={() => dismiss(id)} />
        </li>
      ))}
    </ul>
  );
}
