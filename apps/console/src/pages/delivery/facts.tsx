import { Link } from 'wouter';
import { NameOfApplication, NameOfSubscription } from '../../app/names.js';
import { Url } from '../../components/url.js';
import { LocalTime, RelativeTime } from '../../components/time.js';
import type { Delivery } from './delivery.queries.js';

/** The properties of a delivery. */
export function Facts({
  delivery,
  isOwn,
}: {
  delivery: Delivery;
  /** The user has no pages for other accounts' subscriptions and applications. */
  isOwn: boolean;
}) {
  const { id, eventId, webhookId, applicationId, targetUrl, producerId } = delivery;
  return (
    <dl className="facts">
      <dt>Subscription</dt>
      <dd>
        {isOwn ? (
          <Link href={`/subscriptions/${webhookId}`} className="strong">
            <bdi>
              <NameOfSubscription id={webhookId} otherwise={webhookId} />
            </bdi>
          </Link>
        ) : (
          webhookId
        )}
      </dd>
      <dt>Target</dt>
      <dd>
        <Url text={targetUrl} />
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
                <bdi>
                  <NameOfApplication id={applicationId} />
                </bdi>
              </Link>
            ) : (
              applicationId
            )}
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
