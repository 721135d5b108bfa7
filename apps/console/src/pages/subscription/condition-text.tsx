import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { Link } from 'wouter';
import { useStream } from '../../app/stream.js';
import { AnswerCode } from '../../components/answer-code.js';
import { Day, LocalTime, RelativeTime } from '../../components/time.js';
import type { Condition } from '../../states/subscription-state.js';
import { lastFailureQuery } from './subscription.queries.js';

/** One line: since when a condition holds, its cause, what happens next, and what happens if nothing changes. */
export function Moments({
  of: { since, next, disables, needsAttention },
  webhookId,
}: {
  of: Condition;
  webhookId: string;
}) {
  return (
    <p className="moments">
      {since?.at !== undefined && (
        <span>
          {since.text} <RelativeTime at={since.at} />
        </span>
      )}
      {needsAttention && <LastFailure webhookId={webhookId} />}
      <span>
        {next.text}
        {next.at !== undefined && (
          <>
            {' '}
            <RelativeTime at={next.at} />, at <LocalTime at={next.at} />
          </>
        )}
      </span>
      {disables?.at !== undefined && (
        <span>
          {disables.text} <Day at={disables.at} /> unless it recovers
        </span>
      )}
    </p>
  );
}

/** The newest failed delivery of a subscription, refetched after its health changes. */
export function useLastFailure(webhookId: string) {
  const client = useQueryClient();
  const { data } = useQuery(lastFailureQuery(webhookId));
  const isOutdated = useRef(true);
  useStream({
    webhook: ({ id }) => {
      if (id === webhookId) isOutdated.current = true;
    },
    // The health changes before the attempt is recorded.
    delivery: ({ webhookId: of, attempts }) => {
      if (of !== webhookId || attempts === 0 || !isOutdated.current) return;
      isOutdated.current = false;
      void client.invalidateQueries({ queryKey: lastFailureQuery(webhookId).queryKey });
    },
  });
  return data;
}

/** The last failure of a subscription. */
function LastFailure({ webhookId }: { webhookId: string }) {
  const data = useLastFailure(webhookId);
  // A placeholder, so that nothing moves later.
  if (data === undefined) {
    return (
      <span className="to-come">
        Last failure <AnswerCode status={500} />
      </span>
    );
  }
  return (
    data && (
      <span>
        Last failure{' '}
        <Link href={`/deliveries/${data.deliveryId}`}>
          <AnswerCode {...data.attempt} />
        </Link>
      </span>
    )
  );
}
