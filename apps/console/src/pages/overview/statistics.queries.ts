import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { answerOf, api, type Schemas } from '../../app/api.js';
import { failuresOf } from './outcomes.js';
import { bucketsOf, type Range, timeBefore } from './ranges.js';

export type History = Schemas['AttemptHistory'] & {
  /** How many attempts failed in the equally long range before. */
  failedBefore: number;
};

/** The deliveries that wait. */
export type Waiting = Schemas['DeliveryStatistics']['waiting'];

const failedOf = ({ outcomes }: Pick<Schemas['AttemptHistory'], 'outcomes'>): number =>
  failuresOf(outcomes).reduce((sum, { count }) => sum + count, 0);

/** Workers write their counts with ten seconds' delay. */
const READ_AGAIN_MS = 15_000;

/**
 * The attempts of an account in a time range. @param accountId for the platform: of another account
 */
export const statisticsQuery = (range: Range, accountId?: string) =>
  queryOptions({
    queryKey: ['statistics', range, { accountId }],
    refetchInterval: READ_AGAIN_MS,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<History & { waiting: Waiting }> => {
      const read = (query: { since: string; until?: string; buckets: number }) => {
        const of = { ...query, ...(accountId !== undefined && { accountId }) };
        return answerOf(api.GET('/v1/stats', { params: { query: of }, signal }));
      };
      const asked = bucketsOf(range, Date.now());
      const [history, before] = await Promise.all([
        read(asked),
        read({ ...timeBefore(range, asked.since), buckets: 1 }),
      ]);
      return { ...history, failedBefore: failedOf(before) };
    },
  });

/** The attempts of one subscription in a time range. */
export const subscriptionStatisticsQuery = (id: string, range: Range) =>
  queryOptions({
    queryKey: ['statistics', range, id],
    refetchInterval: READ_AGAIN_MS,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<(History & { waiting: Waiting }) | undefined> => {
      const read = (query: { since: string; until?: string; buckets: number }) =>
        answerOf(api.GET('/v1/webhooks/{id}/stats', { params: { path: { id }, query }, signal }));
      const asked = bucketsOf(range, Date.now());
      const [{ history, waiting }, { history: before }] = await Promise.all([
        read(asked),
        read({ ...timeBefore(range, asked.since), buckets: 1 }),
      ]);
      return history && { ...history, waiting, failedBefore: before ? failedOf(before) : 0 };
    },
  });

/** Whether the account has any delivery. */
export const hasDeliveriesQuery = queryOptions({
  queryKey: ['overview', 'has deliveries'],
  queryFn: async ({ signal }) => {
    const query = { limit: 1 };
    return (await answerOf(api.GET('/v1/deliveries', { params: { query }, signal }))).length > 0;
  },
});
