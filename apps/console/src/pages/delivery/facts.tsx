import type { ReactNode } from 'react';
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
          <OfCustomer path={`/subscriptions/${webhookId}`} accountId={accountId}>
            <NameOfSubscription id={webhookId} otherwise={webhookId} customer={accountId} />
          </OfCustomer>
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
              <OfCustomer path={`/applications/${applicationId}`} accountId={accountId}>
                <NameOfApplication id={applicationId} customer={accountId} />
              </OfCustomer>
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

/** The link of a customer's resource, if the account is known. */
function OfCustomer({
  path,
  accountId,
  children,
}: {
  path: string;
  accountId: string | undefined;
  children: ReactNode;
}) {
  return accountId === undefined ? (
    children
  ) : (
    <Link href={ofAccount(path, accountId)}>
      <bdi>{children}</bdi>
    </Link>
  );
}
