import { useState } from 'react';
import { Link } from 'wouter';
import { OfApplication } from '../../app/names.js';
import { Problem } from '../../app/problem.js';
import { EmptyState } from '../../components/notice.js';
import { LocalTime } from '../../components/time.js';
import type { Subscription } from '../overview/subscriptions.queries.js';
import { type Report, useSend } from './event.queries.js';
import { canBeSent, type WhyNot, whyNotOf } from './why-not.js';

const FIRST = 20;

/** Each subscription that could have been told of an event and was not, with the reason. */
export function WhyNotSection({
  report,
  subscriptions,
  isOwn,
}: {
  report: Report;
  subscriptions: readonly Subscription[];
  /** Whether the subscriptions are those of the event's account. */
  isOwn: boolean;
}) {
  const [wantsAll, setWantsAll] = useState(false);
  const { deliveries } = report;
  if (deliveries.some(({ test }) => test)) return <p>It is a test of one subscription.</p>;

  const all = whyNotOf(report, subscriptions);
  // One that is off may be switched on.
  const isCovered = subscriptions.some((one) => canBeSent(report, { ...one, enabled: true }));
  const shown = wantsAll ? all : all.slice(0, FIRST);
  if (all.length === 0 && deliveries.length > 0) return null;
  return (
    <section aria-labelledby="why-not">
      <h2 id="why-not">
        {deliveries.length === 0 ? 'Why nobody was told' : 'Who was not told, and why'}
      </h2>
      {all.length === 0 ? (
        <Nobody subscriptions={subscriptions} isOwn={isOwn} />
      ) : (
        <p className="quiet">As far as the subscriptions show it now.</p>
      )}
      {isOwn && deliveries.length === 0 && !isCovered && <Create report={report} />}
      <ul className="why-not">
        {shown.map((one) => (
          <li key={one.webhookId}>
            <Reason of={one} report={report} isOwn={isOwn} />
          </li>
        ))}
      </ul>
      {shown.length < all.length && (
        <button type="button" onClick={() => setWantsAll(true)}>
          Show all {all.length}
        </button>
      )}
    </section>
  );
}

function Reason({
  of: { webhookId, subscription, sentence, at, advice },
  report,
  isOwn,
}: {
  of: WhyNot;
  report: Report;
  isOwn: boolean;
}) {
  const name = subscription?.name ?? subscription?.targetUrl ?? `Subscription ${webhookId}`;
  const send = useSend(report.id);
  return (
    <>
      <p>
        {isOwn ? (
          <Link href={`/subscriptions/${webhookId}`}>
            <bdi className="strong">{name}</bdi>
          </Link>
        ) : (
          <bdi className="strong">{name}</bdi>
        )}
        {subscription && (
          <span className="quiet">
            {' '}
            {subscription.event} · {subscription.resource} ·{' '}
            <OfApplication id={subscription.applicationId} none="whole account" />
          </span>
        )}
      </p>
      <p>
        {sentence}
        {at !== undefined && (
          <>
            {' '}
            (<LocalTime at={at} />)
          </>
        )}
      </p>
      {advice !== undefined && <p className="quiet">{advice}</p>}
      {canBeSent(report, subscription) && (
        <button
          type="button"
          onClick={() => send.mutate(webhookId)}
          disabled={send.isPending || send.isSuccess}
        >
          Send it this event
        </button>
      )}
      <Problem error={send.error} />
    </>
  );
}

/** Said where the API has no reason of any subscription. */
function Nobody({
  subscriptions,
  isOwn,
}: {
  subscriptions: readonly Subscription[];
  isOwn: boolean;
}) {
  if (!isOwn) {
    return (
      <EmptyState title="No subscription could have been told.">
        <p>The account has none at its level, nor for the application of this event.</p>
      </EmptyState>
    );
  }
  return (
    <EmptyState
      title={
        subscriptions.length === 0
          ? 'There is no subscription.'
          : 'No subscription is for such events: all are for other applications.'
      }
    />
  );
}

/** Leads to a new subscription that gets such events. */
function Create({ report: { event, applicationId } }: { report: Report }) {
  const href = `/subscriptions/new?event=${event}`;
  return (
    <p>
      {applicationId === undefined ? (
        <Link href={href}>Create a subscription for the whole account</Link>
      ) : (
        <>
          <Link href={`${href}&applicationId=${applicationId}`}>
            Create a subscription for application {applicationId}
          </Link>
          , or one <Link href={href}>for the whole account</Link>,
        </>
      )}{' '}
      to get later events like this one. Then you can send it this one, too.
    </p>
  );
}
