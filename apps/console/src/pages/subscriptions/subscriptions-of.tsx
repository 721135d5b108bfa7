import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { useCustomer, useMayChangeShown } from '../../app/account.js';
import { Problem } from '../../app/problem.js';
import { EmptyState } from '../../components/notice.js';
import { SkeletonRows } from '../../components/skeleton.js';
import { isFull, roomText } from './limits.js';
import { SubscriptionTable } from './subscription-table.js';
import { subscriptionsAt, withActivity } from './subscriptions.queries.js';

/** The subscriptions of an application, and how many more it may have. */
export function SubscriptionsOf({ applicationId }: { applicationId: string }) {
  const customer = useCustomer();
  const mayChange = useMayChangeShown();
  const { data, error, isPending } = useQuery(
    withActivity(subscriptionsAt(applicationId, customer), customer),
  );
  const isRoom = data && !isFull(data.length) && mayChange;
  return (
    <section aria-label="Subscriptions">
      <Problem error={error} />
      {isPending && <SkeletonRows count={3} rowHeight={41} />}
      {data && data.length > 0 && <SubscriptionTable rows={data} isOfApplication />}
      {data?.length === 0 && (
        <EmptyState title="This application has no subscriptions.">
          <p>Subscriptions of the whole account get its events, too.</p>
        </EmptyState>
      )}
      {data && (
        <p className="quiet end">
          {roomText(data.length)}{' '}
          {isRoom && (
            <Link href={`/subscriptions/new?applicationId=${applicationId}`}>New subscription</Link>
          )}
        </p>
      )}
    </section>
  );
}
