import { Link } from 'wouter';
import { Badge, Notice } from '../../components/notice.js';
import { LastFailure, Moments } from '../subscription/condition-text.js';
import { useConditions } from '../subscription/use-conditions.js';
import { failingOf, isBad } from './failing.js';
import type { Subscription } from './subscriptions.queries.js';

/** Of so many it is read why they fail. */
const MOST_REASONS = 10;

/** What is failing now, and since when. */
export function FailingSection({ subscriptions }: { subscriptions: readonly Subscription[] }) {
  const failing = failingOf(subscriptions);
  return (
    <section aria-labelledby="failing">
      <h2 id="failing">Failing now</h2>
      <p role="status">{summaryOf(failing.length, subscriptions.length)}</p>
      <ul className="failing">
        {failing.map((subscription, index) => (
          <li key={subscription.id}>
            <Notice tone="bad">
              <Failing subscription={subscription} />
              {index < MOST_REASONS && <LastFailure webhookId={subscription.id} />}
              <p>
                <Link href={`/deliveries?webhookId=${subscription.id}`}>Its deliveries</Link>
              </p>
            </Notice>
          </li>
        ))}
      </ul>
    </section>
  );
}

function summaryOf(failing: number, all: number): string {
  if (all === 0) return 'There are no subscriptions.';
  if (failing === 0) {
    return all === 1
      ? 'Nothing: your subscription is well.'
      : 'Nothing: all subscriptions are well.';
  }
  return failing === 1 ? '1 subscription is failing.' : `${failing} subscriptions are failing.`;
}

function Failing({ subscription }: { subscription: Subscription }) {
  const condition = useConditions(subscription).find(isBad);
  const { id, name, targetUrl, event, resource } = subscription;
  return (
    <>
      <p>
        <Badge tone="bad">{condition?.word}</Badge>{' '}
        <Link href={`/subscriptions/${id}`}>
          <bdi className="strong">{name ?? targetUrl}</bdi>
        </Link>{' '}
        <span className="quiet">
          {event} · {resource}
        </span>
      </p>
      {name !== undefined && (
        <p className="quiet">
          <bdi>{targetUrl}</bdi>
        </p>
      )}
      <p>{condition?.sentence}</p>
      {condition && <Moments of={condition} />}
    </>
  );
}
