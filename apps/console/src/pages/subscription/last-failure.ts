import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { answerOf, api, type Schemas } from '../../app/api.js';
import { firstRows } from '../../app/first-rows.js';
import { useStream } from '../../app/stream.js';

type Delivery = Schemas['Delivery'];

const FAILED = { status: 'failed' } as const;
/** The API's default page. */
const MOST_READ = 100;

/** The newest deliveries of the account whose last attempt failed: the newest of each of their subscriptions. */
const lastFailuresQuery = queryOptions({
  queryKey: ['overview', 'last failures'],
  queryFn: async ({ signal }) => {
    const query = { ...FAILED, limit: MOST_READ };
    const newest = await answerOf(api.GET('/v1/deliveries', { params: { query }, signal }));
    return new Map(newest.toReversed().map((delivery) => [delivery.webhookId, delivery]));
  },
});

/** The newest delivery of a subscription whose last attempt failed; null if there is none. */
const lastFailureQuery = (webhookId: string) =>
  queryOptions({
    queryKey: ['webhook', webhookId, 'last failure'],
    queryFn: async ({ signal }) => {
      const { rows } = await firstRows(1, (page) => {
        const query = { ...FAILED, webhookId, ...page };
        return api.GET('/v1/deliveries', { params: { query }, signal });
      });
      return rows[0] ?? null;
    },
  });

/** The last failure of each subscription, as far as it is among the account's newest. */
export function useLastFailures(): ReadonlyMap<string, Delivery> | undefined {
  const client = useQueryClient();
  const { queryKey } = lastFailuresQuery;
  useFailures((delivery) =>
    client.setQueryData(
      queryKey,
      (known) => known && new Map(known).set(delivery.webhookId, delivery),
    ),
  );
  return useQuery(lastFailuresQuery).data;
}

/** The last failure of a subscription; undefined while it is read. */
export function useLastFailure(webhookId: string): Delivery | null | undefined {
  const client = useQueryClient();
  const { queryKey } = lastFailureQuery(webhookId);
  useFailures((delivery) => {
    if (delivery.webhookId === webhookId) client.setQueryData(queryKey, delivery);
  });
  return useQuery(lastFailureQuery(webhookId)).data;
}

/** Calls the function for each delivery whose last attempt has just failed. */
function useFailures(onFailure: (delivery: Delivery) => void): void {
  useStream({
    delivery: (delivery) => {
      const { status = 0 } = delivery.lastAttempt ?? { status: 200 };
      if (status < 200 || status > 299) onFailure(delivery);
    },
  });
}
