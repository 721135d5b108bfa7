import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { useIsNarrow } from '../../app/media.js';
import { Problem } from '../../app/problem.js';
import { EmptyState } from '../../components/notice.js';
import { Table } from '../../components/table.js';
import { COLUMNS, COLUMNS_OF_PHONE } from './columns.js';
import { isFull, roomText } from './limits.js';
import { useLiveSubscriptions } from './live-subscriptions.js';
import { type Subscription, subscriptionsAt } from './subscriptions.queries.js';

/** The subscriptions of an application, and how many more it may have. */
export function SubscriptionsOf({ applicationId }: { applicationId: string }) {
  const { data, error } = useQuery(subscriptionsAt(applicationId));
  const isNarrow = useIsNarrow();
  useLiveSubscriptions();
  return (
    <section aria-labelledby="subscriptions">
      <h2 id="subscriptions">Subscriptions</h2>
      <Problem error={error} />
      {data && (
        <p>
          {roomText(data.length)}{' '}
          {!isFull(data.length) && (
            <Link href={`/subscriptions/new?applicationId=${applicationId}`}>New subscription</Link>
          )}
        </p>
      )}
      {data && data.length > 0 && (
        <Table
          label="Subscriptions"
          rows={data}
          keyOf={keyOf}
          hrefOf={hrefOf}
          columns={isNarrow ? COLUMNS_OF_PHONE : COLUMNS}
          rowHeight={41}
        />
      )}
      {data?.length === 0 && (
        <EmptyState title="This application has no subscriptions of its own.">
          <p>Those of the whole account get its events, too.</p>
        </EmptyState>
      )}
    </section>
  );
}

const keyOf = ({ id }: Subscription): string => id;
const hrefOf = ({ id }: Subscription): string => `/subscriptions/${id}`;
