import { useQuery } from '@tanstack/react-query';
import { sentenceOf } from '../../app/api.js';
import { RangePicker, Statistics, useRange } from './statistics.js';
import { subscriptionStatisticsQuery } from './statistics.queries.js';

/** How the attempts of one subscription went; a section of its page. */
export function SubscriptionStatistics({ webhookId }: { webhookId: string }) {
  const range = useRange();
  const { data, error } = useQuery(subscriptionStatisticsQuery(webhookId, range));
  return (
    <section aria-labelledby="statistics">
      <div className="tools">
        <h2 id="statistics">Attempts</h2>
        <RangePicker />
      </div>
      {data && <Statistics history={data} />}
      {error && (
        <p className="problem" role="alert">
          {sentenceOf(error)}
        </p>
      )}
    </section>
  );
}
