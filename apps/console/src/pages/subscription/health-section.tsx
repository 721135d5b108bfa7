import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { Link } from 'wouter';
import { useStream } from '../../app/stream.js';
import { Notice } from '../../components/notice.js';
import { useNow } from '../../components/time.js';
import { LastFailure, Moments } from './condition-text.js';
import {
  heldUntilQuery,
  lastRetryQuery,
  type Subscription,
  useSwitchOnAgain,
} from './subscription.queries.js';
import { useConditions } from './use-conditions.js';

/** Many deliveries at once are one question. */
const AGAIN_MS = 2_000;

/** How a subscription is, what happens next, and what can be done; it follows what happens. */
export function HealthSection({ subscription }: { subscription: Subscription }) {
  const { id } = subscription;
  const client = useQueryClient();
  const { data: heldUntil } = useQuery(heldUntilQuery(id));
  const timer = useRef<number>(undefined);
  useEffect(() => () => window.clearTimeout(timer.current), []);
  useStream({
    webhook: (changed) => {
      if (changed.id === id) void client.invalidateQueries({ queryKey: ['webhook', id] });
    },
    delivery: ({ webhookId }) => {
      if (webhookId !== id) return;
      timer.current ??= window.setTimeout(() => {
        timer.current = undefined;
        void client.invalidateQueries({ queryKey: heldUntilQuery(id).queryKey });
      }, AGAIN_MS);
    },
  });
  const conditions = useConditions(subscription, heldUntil ?? undefined);
  return (
    <section className="conditions" aria-label="Health">
      {conditions
        .filter(({ tone }) => tone !== 'good')
        .map((condition) => (
          <Notice key={condition.word} tone={condition.tone}>
            <p className="strong">{condition.sentence}</p>
            <Moments of={condition} />
            {condition.tone === 'bad' && <LastFailure webhookId={id} />}
            {condition.advice !== undefined && <p>{condition.advice}</p>}
            {subscription.disabledReason !== undefined && <SwitchOnAgain of={subscription} />}
          </Notice>
        ))}
      {conditions[0].tone === 'good' && <Waiting webhookId={id} />}
    </section>
  );
}

/** The one step after the service has switched a subscription off, and the server is repaired. */
function SwitchOnAgain({ of: { id, disabledAt } }: { of: Subscription }) {
  const again = useSwitchOnAgain(id);
  if (disabledAt === undefined) return null;
  return (
    <p className="step">
      <button
        type="button"
        className="primary"
        disabled={again.isPending}
        onClick={() => again.mutate(disabledAt)}
      >
        Switch on, and redeliver what was cancelled
      </button>
    </p>
  );
}

/** What is left of failures that are over. */
function Waiting({ webhookId }: { webhookId: string }) {
  const { data: at } = useQuery(lastRetryQuery(webhookId));
  const isAhead = useNow((now) => Date.parse(at ?? '') > now);
  return (
    isAhead && (
      <Notice tone="waiting">
        <p>
          Deliveries that failed before keep their own next tries.{' '}
          <Link href={`/deliveries?webhookId=${webhookId}&state=pending`}>
            See those that wait, or send them now
          </Link>
        </p>
      </Notice>
    )
  );
}
