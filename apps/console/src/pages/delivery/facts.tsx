import { Link } from 'wouter';
import { ofAccount } from '../../app/account.js';
import { NameOfApplication, NameOfSubscription } from '../../app/names.js';
import { Url } from '../../components/url.js';
import { LocalTime, RelativeTime } from '../../components/time.js';
import type { Delivery } from './delivery.queries.js';

/** The properties of a delivery. */
export function Facts({
  delivery,
  accountId,
  isOwn,
}: {
  delivery: Delivery;
  /** The account that owns it, for the platform. */
  accountId: string | undefined;
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
          <OfCustomer path="/subscriptions" id={webhookId} accountId={accountId} />
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
              <OfCustomer path="/applications" id={applicationId} accountId={accountId} />
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

/** A customer's resource, by its id: an operator does not read the names. */
function OfCustomer({
  path,
  id,
  accountId,
}: {
  path: string;
  id: string;
  accountId: string | undefined;
}) {
  return accountId === undefined ? (
    id
  ) : (
    <Link href={ofAccount(`${path}/${id}`, accountId)}>{id}</Link>
  );
}
