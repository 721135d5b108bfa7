import { Link } from 'wouter';
import { Badge, Notice } from '../../components/notice.js';
import { LocalTime, RelativeTime, useNow } from '../../components/time.js';
import { type Failing, failingOf } from './failing.js';
import type { Subscription } from './subscriptions.queries.js';

/** What is failing now, and since when. */
export function FailingSection({ subscriptions }: { subscriptions: readonly Subscription[] }) {
  const failing = failingOf(subscriptions);
  return (
    <section aria-labelledby="failing">
      <h2 id="failing">Failing now</h2>
      <p role="status">{summaryOf(failing.length, subscriptions.length)}</p>
      <ul className="failing">
        {failing.map((one) => (
          <li key={one.subscription.id}>
            <Notice tone={one.tone}>
              <Shown failing={one} />
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

function Shown({ failing }: { failing: Failing }) {
  const { subscription, tone, word, sentence, since, triedAt, disablesAt } = failing;
  const { id, name, targetUrl, event, resource } = subscription;
  return (
    <>
      <p>
        <Badge tone={tone}>{word}</Badge>{' '}
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
      <p>
        {sentence} <LocalTime at={since} /> (<RelativeTime at={since} />
        ). {triedAt !== undefined && <NextTry at={triedAt} />}
      </p>
      {disablesAt !== undefined && (
        <p>
          If that goes on, it is switched off <RelativeTime at={disablesAt} />, at{' '}
          <LocalTime at={disablesAt} />.
        </p>
      )}
      <p>
        <Link href={`/deliveries?webhookId=${id}`}>Its deliveries</Link>
      </p>
    </>
  );
}

function NextTry({ at }: { at: string }) {
  const isPast = useNow((now) => Date.parse(at) <= now);
  if (isPast) return 'The next notification is tried now.';
  return (
    <>
      Nothing is sent until <LocalTime at={at} /> (<RelativeTime at={at} />
      ), when one notification is tried.
    </>
  );
}
