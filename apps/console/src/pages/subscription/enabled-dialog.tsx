import '../../styles/form.css';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Dialog } from '../../components/dialog.js';
import { offerText } from '../../states/sending.js';
import { ReplayProgress } from '../deliveries/replay-progress.js';
import { countQuery, startSentence } from '../deliveries/send-matching.queries.js';
import { type Disabled, lostOf, useSendAll } from './enable.queries.js';

const LABEL = 'The subscription is enabled';
const KINDS = ['again', 'missed'] as const;
type Kind = (typeof KINDS)[number];

/** Offers to send what a subscription lost while the service had disabled it, with the numbers of a dry run. */
export default function EnabledDialog({ of, onClose }: { of: Disabled; onClose: () => void }) {
  return (
    <Dialog label={LABEL} onClose={onClose}>
      <h2 className="title">{LABEL}</h2>
      <Content of={of} onClose={onClose} />
    </Dialog>
  );
}

function Content({ of, onClose }: { of: Disabled; onClose: () => void }) {
  const lost = lostOf(of);
  const again = useQuery(countQuery(lost.again));
  const missed = useQuery(countQuery(lost.missed));
  const [skips, setSkips] = useState<readonly Kind[]>([]);
  const send = useSendAll();
  if (send.data) return <Started ids={send.data} onClose={onClose} />;

  const counts = { again: again.data, missed: missed.data };
  const offers = KINDS.filter((kind) => (counts[kind]?.deliveries ?? 0) > 0);
  const chosen = offers.filter((kind) => !skips.includes(kind));
  const error = send.error ?? again.error ?? missed.error;
  const toggle = (kind: Kind) =>
    setSkips(skips.includes(kind) ? skips.filter((one) => one !== kind) : [...skips, kind]);
  return (
    <>
      <p role="status">
        {again.isPending || missed.isPending
          ? 'Counting what it lost …'
          : offers.length === 0 && !error
            ? 'It has lost nothing.'
            : 'It gets new events from now on. What it lost can be sent, too:'}
      </p>
      <div className="choices">
        {offers.map((kind) => (
          <label key={kind}>
            <input type="checkbox" checked={!skips.includes(kind)} onChange={() => toggle(kind)} />
            {offerText(counts[kind]!, kind)}
          </label>
        ))}
      </div>
      {error && (
        <p className="problem" role="alert">
          {startSentence(error)}
        </p>
      )}
      <div className="tools">
        {offers.length > 0 && (
          <button
            type="button"
            className="primary"
            disabled={chosen.length === 0 || send.isPending}
            onClick={() => send.mutate(chosen.map((kind) => lost[kind]))}
          >
            Send
          </button>
        )}
        <button type="button" onClick={onClose}>
          {offers.length > 0 ? 'Not now' : 'Close'}
        </button>
      </div>
    </>
  );
}

function Started({ ids, onClose }: { ids: readonly string[]; onClose: () => void }) {
  return (
    <>
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
