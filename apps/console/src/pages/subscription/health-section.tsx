import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { Link } from 'wouter';
import { useStream } from '../../app/stream.js';
import { Badge, Notice } from '../../components/notice.js';
import { LocalTime, RelativeTime, useNow } from '../../components/time.js';
import { type Condition, conditionsOf, type Moment } from './health.js';
import { heldUntilQuery, type Subscription } from './subscription.queries.js';

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
  // As a text, so that the page is rendered again only when something changes.
  const text = useNow((now) =>
    JSON.stringify(conditionsOf(subscription, heldUntil ?? undefined, now)),
  );
  const conditions = JSON.parse(text) as Condition[];
  return (
    <section className="conditions" aria-label="Health">
      {conditions.map((condition) => (
        <Notice key={condition.word} tone={condition.tone}>
          <p>
            <Badge tone={condition.tone}>{condition.word}</Badge> {condition.sentence}
          </p>
          {condition.since && <When moment={condition.since} />}
          <When moment={condition.next} />
          {condition.warning && <When moment={condition.warning} />}
          {condition.advice !== undefined && <p>{condition.advice}</p>}
        </Notice>
      ))}
      <p>
        <Link href={`/deliveries?webhookId=${id}`}>All its deliveries</Link>
      </p>
    </section>
  );
}

function When({ moment: { text, at } }: { moment: Moment }) {
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
