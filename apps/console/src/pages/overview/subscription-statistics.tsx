import { useQuery } from '@tanstack/react-query';
import { Statistics, useRange } from './statistics.js';
import { subscriptionStatisticsQuery } from './statistics.queries.js';

/** How the attempts of one subscription went. */
export function SubscriptionStatistics({ webhookId }: { webhookId: string }) {
  const { data, error } = useQuery(subscriptionStatisticsQuery(webhookId, useRange()));
  return <Statistics history={data} error={error} />;
}
