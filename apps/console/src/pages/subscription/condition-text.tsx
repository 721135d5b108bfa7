import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { Link } from 'wouter';
import { useStream } from '../../app/stream.js';
import { AnswerCode } from '../../components/answer-code.js';
import { Day, LocalTime, RelativeTime } from '../../components/time.js';
import type { Condition } from './health.js';
import { lastFailureQuery } from './subscription.queries.js';

/** In one line: since when something is true of a subscription, why, what happens next, and what if nothing changes. */
export function Moments({
  of: { since, next, warning, needsAttention },
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
      {warning?.at !== undefined && (
        <span>
          {warning.text} <Day at={warning.at} /> unless it recovers
        </span>
      )}
    </p>
  );
}

/** The newest delivery of a subscription that failed. It is read again after the health has changed. */
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

/** Why a subscription fails. */
function LastFailure({ webhookId }: { webhookId: string }) {
  const data = useLastFailure(webhookId);
  // So that nothing moves when it is known.
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
