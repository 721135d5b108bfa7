import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { Link } from 'wouter';
import { useStream } from '../../app/stream.js';
import { LocalTime, RelativeTime } from '../../components/time.js';
import { outcomeOf } from '../delivery/verdict.js';
import type { Condition, Moment } from './health.js';
import { lastFailureQuery } from './subscription.queries.js';

/** Since when something is true of a subscription, what happens next, and what happens if nothing changes. */
export function Moments({ of: { since, next, warning } }: { of: Condition }) {
  return [since, next, warning].map((moment) => moment && <When key={moment.text} {...moment} />);
}

function When({ text, at }: Moment) {
  return (
    <p>
      {text}
      {at !== undefined && (
        <>
          {' '}
          <RelativeTime at={at} />, at <LocalTime at={at} />.
        </>
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
export function LastFailure({ webhookId }: { webhookId: string }) {
  const data = useLastFailure(webhookId);
  return (
    data && (
      <p>
        Newest failed notification: your server {outcomeOf(data.attempt)} at{' '}
        <LocalTime at={data.attempt.at} />.{' '}
        <Link href={`/deliveries/${data.deliveryId}`}>See the delivery</Link>
      </p>
    )
  );
}
