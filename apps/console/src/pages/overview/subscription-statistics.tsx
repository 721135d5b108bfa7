import { useQuery } from '@tanstack/react-query';
import { StatisticsSection, useRange } from './statistics.js';
import { subscriptionStatisticsQuery } from './statistics.queries.js';

/** How the attempts of one subscription went; a section of its page. */
export function SubscriptionStatistics({ webhookId }: { webhookId: string }) {
  const { data, error } = useQuery(subscriptionStatisticsQuery(webhookId, useRange()));
  return <StatisticsSection history={data} error={error} />;
}
