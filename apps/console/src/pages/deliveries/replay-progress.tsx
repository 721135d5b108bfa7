import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useEffectEvent } from 'react';
import { RefusedError, type Schemas } from '../../app/api.js';
import { Problem } from '../../app/problem.js';
import { useMayChange } from '../../app/session.js';
import { Notice, type Tone } from '../../components/notice.js';
import { LocalTime } from '../../components/time.js';
import { progressText } from '../../states/sending.js';
import { replayQuery, useCancelReplay } from './send-matching.queries.js';

type Replay = Schemas['Replay'];

const TONES: Record<Replay['state'], Tone> = {
  running: 'waiting',
  completed: 'good',
  cancelled: 'neutral',
};

/**
 * The progress of a replay, which can be cancelled while it runs. Afterwards it can be dismissed, and leaving the page
 * dismisses it, too. It counts as the dry run did.
 */
export function ReplayProgress({ id, onDismiss }: { id: string; onDismiss?: () => void }) {
  const { data, error } = useQuery(replayQuery(id));
  const cancel = useCancelReplay(id);
  const mayChange = useMayChange();
  const isRunning = data?.state === 'running';
  const hasEnded = data ? !isRunning : error instanceof RefusedError;
  const leave = useEffectEvent(() => hasEnded && onDismiss?.());
  useEffect(() => () => void leave(), []);
  const client = useQueryClient();
  useEffect(() => {
    if (!isRunning) return undefined;
    // Events that were sent are no longer missed.
    return () => void client.invalidateQueries({ queryKey: ['events'] });
  }, [isRunning, client]);
  return (
    <Notice tone={data ? TONES[data.state] : 'neutral'}>
      <div className="replay">
        <div>
          <p>
            {data ? (
              <>
                Started at <LocalTime at={data.createdAt} />: {data.replayed} of {data.total}{' '}
                started
              </>
            ) : (
              'Sending'
            )}
          </p>
          <progress
            aria-label="Started"
            value={data ? data.replayed : 0}
            max={Math.max(data?.total ?? 1, 1)}
          />
          <p role="status">{data && progressText(data)}</p>
          <Problem error={cancel.error ?? error} />
        </div>
        {isRunning && mayChange && (
          <button type="button" disabled={cancel.isPending} onClick={() => cancel.mutate()}>
            Cancel sending
          </button>
        )}
        {hasEnded && onDismiss && (
          <button type="button" onClick={onDismiss}>
            Dismiss
          </button>
        )}
      </div>
    </Notice>
  );
}
