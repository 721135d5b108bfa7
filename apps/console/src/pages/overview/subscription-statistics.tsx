import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useCustomer } from '../../app/account.js';
import { RangePicker, Statistics, useRange } from './statistics.js';
import { subscriptionStatisticsQuery } from './statistics.queries.js';

/** The attempts of one subscription, and content below it, which would move if it came first. */
export function SubscriptionStatistics({
  webhookId,
  children,
}: {
  webhookId: string;
  children: ReactNode;
}) {
  const statistics = subscriptionStatisticsQuery(webhookId, useRange(), useCustomer());
  const { data, error, isPending } = useQuery(statistics);
  return (
    <>
      <Statistics history={data} error={error} tools={<RangePicker isSmall />} />
      {!isPending && children}
    </>
  );
}
