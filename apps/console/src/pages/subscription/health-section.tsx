import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Power, Send } from 'lucide-react';
import { idOf } from '#libs/client';
import { useEffect, useRef } from 'react';
import { Link, useLocation } from 'wouter';
import { useCustomer, useMayChangeShown, useSameAccount } from '../../app/account.js';
import { useStream } from '../../app/stream.js';
import { Notice } from '../../components/notice.js';
import { useNow } from '../../components/time.js';
import { toldToOperator } from '../../states/blocks.js';
import { Moments } from './condition-text.js';
import type { Condition } from '../../states/subscription-state.js';
import {
  heldUntilQuery,
  lastRetryQuery,
  type Subscription,
  useTest,
} from './subscription.queries.js';
import { useConditions } from '../../states/use-conditions.js';

/** Many deliveries cause one fetch. */
const AGAIN_MS = 2_000;

/** The health of a subscription, what happens next, and what the user can do; updates live. */
export function HealthSection({
  subscription,
  onEnable,
}: {
  subscription: Subscription;
  /** Enables it after the service had disabled it. */
  onEnable: () => void;
}) {
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
  const inAccount = useSameAccount();
  const isOwn = useCustomer() === undefined;
  const mayChange = useMayChangeShown();
  const told = (text: string) => (isOwn ? text : toldToOperator(text));
  const isQuiet = ({ tone }: Condition) => tone === 'good';
  return (
    <section className="conditions" aria-label="Health">
      {conditions
        .filter((condition) => !isQuiet(condition))
        .map((condition) => (
          <Notice key={condition.reason} tone={condition.tone}>
            <div className="callout">
              <div>
                <p className="strong">{told(condition.reason)}</p>
                <Moments
                  of={{
                    ...condition,
                    next: { ...condition.next, text: told(condition.next.text) },
                  }}
                  webhookId={id}
                />
                {condition.step === 'see waiting' && (
                  <p>
                    <Link href={inAccount(`/deliveries?webhookId=${id}&state=pending`)}>
                      See waiting deliveries
                    </Link>
                  </p>
                )}
                {condition.step === 'send again' && (
                  <p>
                    <Link href={inAccount(`/deliveries?webhookId=${id}&state=exhausted`)}>
                      {mayChange
                        ? 'See failed deliveries, and send them again'
                        : 'See failed deliveries'}
                    </Link>
                  </p>
                )}
              </div>
              {condition.needsAttention && mayChange && (
                <Step of={subscription} step={condition.step} onEnable={onEnable} />
              )}
            </div>
          </Notice>
        ))}
      {isQuiet(conditions[0]) && <Waiting webhookId={id} />}
    </section>
  );
}

/** The next step once the server works again. */
function Step({
  of: { id },
  step,
  onEnable,
}: {
  of: Subscription;
  step: Condition['step'];
  onEnable: () => void;
}) {
  const test = useTest(id);
  const [, navigate] = useLocation();
  if (step === 'enable') {
    return (
      <button type="button" className="primary" onClick={onEnable}>
        <Power size={15} aria-hidden /> Enable
      </button>
    );
  }
  if (step !== 'test') return null;
  return (
    <button
      type="button"
      className="primary"
      disabled={test.isPending}
      onClick={() =>
        test.mutate(undefined, { onSuccess: (made) => navigate(`/deliveries/${idOf(made)}`) })
      }
    >
      <Send size={15} aria-hidden /> Send test
    </button>
  );
}

/** Retries that remain from past failures. */
function Waiting({ webhookId }: { webhookId: string }) {
  const inAccount = useSameAccount();
  const mayChange = useMayChangeShown();
  const { data: at } = useQuery(lastRetryQuery(webhookId));
  const isAhead = useNow((now) => Date.parse(at ?? '') > now);
  return (
    isAhead && (
      <Notice tone="waiting">
        <p>
          Deliveries that failed earlier keep their retry times.{' '}
          <Link href={inAccount(`/deliveries?webhookId=${webhookId}&state=pending`)}>
            {mayChange ? 'See them, or send them now' : 'See them'}
          </Link>
        </p>
      </Notice>
    )
  );
}
