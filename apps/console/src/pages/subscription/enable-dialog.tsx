import '../../styles/form.css';
import { useQuery } from '@tanstack/react-query';
import { Power } from 'lucide-react';
import { useState } from 'react';
import { useUser } from '../../app/session.js';
import { Dialog } from '../../components/dialog.js';
import { ReplayProgress } from '../deliveries/replay-progress.js';
import { useKeys } from '../deliveries/request-keys.js';
import { startSentence } from '../deliveries/send-matching.queries.js';
import { type Missed, missedText } from '../events/missed.queries.js';
import { type Disabled, type Lost, lostQuery, useEnable } from './enable.queries.js';

/**
 * Enables a subscription that the service had disabled. Before that, it says how many deliveries can be sent again and how
 * many events came meanwhile, and sends what the user leaves ticked.
 */
export function EnableDialog(props: { of: Disabled; onClose: () => void }) {
  return (
    <Dialog label="Enable this subscription" onClose={props.onClose}>
      <h2 className="title">Enable this subscription</h2>
      <Content {...props} />
    </Dialog>
  );
}

function Content({ of, onClose }: { of: Disabled; onClose: () => void }) {
  const { userId } = useUser();
  const { data, error } = useQuery(lostQuery(of));
  const [skips, setSkips] = useState<readonly Lost[]>([]);
  const enable = useEnable(of, userId, useKeys());
  if (enable.data) return <Started ids={enable.data} onClose={onClose} />;

  const offers = data ? offersOf(data) : [];
  const problem = enable.error ?? error;
  const toggle = (lost: Lost) =>
    setSkips(skips.includes(lost) ? skips.filter((one) => one !== lost) : [...skips, lost]);
  return (
    <>
      <p>New events are sent to it from now on.</p>
      {!data && !error && <p role="status">Counting …</p>}
      <div className="choices">
        {offers.map(({ lost, text }) => (
          <label key={lost}>
            <input type="checkbox" checked={!skips.includes(lost)} onChange={() => toggle(lost)} />
            {text}
          </label>
        ))}
      </div>
      {data && offers.length === 0 && <p>It has missed nothing.</p>}
      {problem && (
        <p className="problem" role="alert">
          {startSentence(problem)}
        </p>
      )}
      <div className="tools">
        <button
          type="button"
          className="primary"
          disabled={(!data && !error) || enable.isPending}
          onClick={() =>
            enable.mutate(
              offers.map(({ lost }) => lost).filter((lost) => !skips.includes(lost)),
              { onSuccess: (ids) => ids.length === 0 && onClose() },
            )
          }
        >
          <Power size={15} aria-hidden /> Enable
        </button>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
      </div>
    </>
  );
}

function offersOf({ deliveries, events }: { deliveries: number; events: Missed }) {
  const offers: { lost: Lost; text: string }[] = [];
  if (deliveries > 0) {
    const count = deliveries.toLocaleString('en');
    const what = deliveries === 1 ? 'delivery' : 'deliveries';
    offers.push({ lost: 'deliveries', text: `Send ${count} failed or cancelled ${what} again` });
  }
  if (events.count > 0) {
    const what = missedText(events.count, events.isMore);
    offers.push({ lost: 'events', text: `Send ${what} now that came while it was disabled` });
  }
  return offers;
}

function Started({ ids, onClose }: { ids: readonly string[]; onClose: () => void }) {
  return (
    <>
      <p>The subscription is enabled.</p>
      {ids.map((id) => (
        <ReplayProgress key={id} id={id} />
      ))}
      <div className="tools">
        <button type="button" autoFocus onClick={onClose}>
          Close
        </button>
      </div>
    </>
  );
}
