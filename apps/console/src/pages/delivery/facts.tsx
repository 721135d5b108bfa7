import { Link } from 'wouter';
import { ApplicationName, SubscriptionName } from '../../app/names.js';
import { LocalTime, RelativeTime } from '../../components/time.js';
import type { Delivery } from './delivery.queries.js';

/** What a delivery is about. */
export function Facts({
  delivery,
  isOwn,
}: {
  delivery: Delivery;
  /** Others' subscriptions and applications have no pages. */
  isOwn: boolean;
}) {
  const { id, eventId, webhookId, applicationId, targetUrl, producerId } = delivery;
  return (
    <dl className="facts">
      <dt>Subscription</dt>
      <dd>
        {isOwn ? (
          <Link href={`/subscriptions/${webhookId}`} className="strong">
            <SubscriptionName id={webhookId} />
          </Link>
        ) : (
          webhookId
        )}{' '}
        <Link href={`/deliveries?webhookId=${webhookId}`}>All its deliveries</Link>
      </dd>
      <dt>Target</dt>
      <dd>
        <bdi className="mono">{targetUrl}</bdi>
      </dd>
      {producerId !== undefined && (
        <>
          <dt>Producer’s id</dt>
          <dd>
            <bdi className="mono">{producerId}</bdi>
          </dd>
        </>
      )}
      <dt>Event</dt>
      <dd>
        <Link href={`/events/${eventId}`}>
          <code>{eventId}</code>
        </Link>
      </dd>
      {applicationId !== undefined && (
        <>
          <dt>Application</dt>
          <dd>
            {isOwn ? (
              <Link href={`/applications/${applicationId}`}>
                <ApplicationName id={applicationId} />
              </Link>
            ) : (
              applicationId
            )}{' '}
            <Link href={`/deliveries?applicationId=${applicationId}`}>All its deliveries</Link>
          </dd>
        </>
      )}
      <dt>Accepted</dt>
      <dd>
        <LocalTime at={delivery.createdAt} /> (<RelativeTime at={delivery.createdAt} />)
      </dd>
      {delivery.completedAt !== undefined && (
        <>
          <dt>Ended</dt>
          <dd>
            <LocalTime at={delivery.completedAt} /> (<RelativeTime at={delivery.completedAt} />)
          </dd>
        </>
      )}
      <dt>webhook-id</dt>
      <dd>
        <code>{id}</code>
      </dd>
    </dl>
  );
}
