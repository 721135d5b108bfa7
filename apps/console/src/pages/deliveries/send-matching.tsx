import './send-matching.css';
import { skipToken, useQuery } from '@tanstack/react-query';
import { RotateCw } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { useCommands } from '../../app/palette.js';
import { useUser } from '../../app/session.js';
import { ReplayProgress } from './replay-progress.js';
import type { Sending } from './send-dialog.js';
import { countQuery, DAY_MS } from './send-matching.queries.js';
import { dismiss, useStartedReplays } from './started-replays.js';

const SendDialog = lazy(() => import('./send-dialog.js'));

/**
 * Filters that cannot select what is sent at once. Parked deliveries are blocked, and only each by itself is sent in spite
 * of that.
 */
const isRefused = ({ state, contains, producerId }: Sending['values']): boolean =>
  state === 'parked' || contains !== undefined || producerId !== undefined;

/** A button that sends all deliveries that match, or all events that a subscription has missed. */
export function SendMatching({
  label = 'Send all that match',
  isSmall = false,
  ...sending
}: Omit<Sending, 'label'> & {
  /** The button's text, and the title of the dialog. */
  label?: string;
  isSmall?: boolean;
}) {
  const { role } = useUser();
  const [isOpen, setIsOpen] = useState(false);
  const open = () => setIsOpen(true);
  const { values } = sending;
  // The platform does not send on behalf of an account.
  const isOffered = role === 'account' && !isRefused(values);
  useCommands(isOffered ? [{ name: label, group: 'Actions', run: open }] : []);
  const count = useFailedCount(values, isOffered && !isSmall);
  if (!isOffered) return null;
  const look = isSmall ? 'small' : count > 0 ? 'primary' : undefined;
  return (
    <>
      <button
        type="button"
        className={look}
        title={count > 0 && !values['since'] ? 'Made in the last 24 hours' : undefined}
        aria-haspopup="dialog"
        onClick={open}
      >
        {!isSmall && <RotateCw size={14} aria-hidden />}
        {count > 0 ? `Send ${count.toLocaleString('en')}` : label} …
      </button>
      {isOpen && (
        <Suspense>
          <SendDialog {...sending} label={label} onClose={() => setIsOpen(false)} />
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
