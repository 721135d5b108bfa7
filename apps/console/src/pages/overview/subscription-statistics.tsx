import { useQuery } from '@tanstack/react-query';
import { RangePicker, Statistics, useRange } from './statistics.js';
import { subscriptionStatisticsQuery } from './statistics.queries.js';

/** How the attempts of one subscription went. */
export function SubscriptionStatistics({ webhookId }: { webhookId: string }) {
  const { data, error } = useQuery(subscriptionStatisticsQuery(webhookId, useRange()));
  return (
    <>
      <div className="tools at-end">
        <RangePicker />
      </div>
      <Statistics history={data} error={error} />
    </>
  );
}
