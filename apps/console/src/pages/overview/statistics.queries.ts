import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { accountQuery } from '../../app/account.js';
import { answerOf, api, type Schemas } from '../../app/api.js';
import { bucketsOf, type Range } from './ranges.js';

/** The attempts of a time range, and the deliveries that wait, if they are counted. */
export type History = Schemas['AttemptHistory'] &
  Partial<Pick<Schemas['DeliveryStatistics'], 'waiting'>>;

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
    queryFn: ({ signal }) => {
      const query = { ...bucketsOf(range, Date.now()), ...accountQuery(accountId) };
      return answerOf(api.GET('/v1/stats', { params: { query }, signal }));
    },
  });

/**
 * The attempts of one subscription in a time range. @param customer for operators: of another account
 */
export const subscriptionStatisticsQuery = (id: string, range: Range, customer?: string) =>
  queryOptions({
    queryKey: ['statistics', range, id, { customer }],
    refetchInterval: READ_AGAIN_MS,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<History | undefined> => {
      const query = { ...bucketsOf(range, Date.now()), ...accountQuery(customer) };
      const params = { path: { id }, query };
      const { history, waiting } = await answerOf(
        api.GET('/v1/webhooks/{id}/stats', { params, signal }),
      );
      return history && { ...history, waiting };
    },
  });

/** The attempts of all accounts in a time range. */
export const installationStatisticsQuery = (range: Range) =>
  queryOptions({
    queryKey: ['statistics', range, 'installation'],
    // Operators have no turns with each other, and a long range changes little.
    refetchInterval: range === 'hour' ? READ_AGAIN_MS : 4 * READ_AGAIN_MS,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => {
      const query = bucketsOf(range, Date.now());
      return answerOf(api.GET('/v1/overview/stats', { params: { query }, signal }));
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
