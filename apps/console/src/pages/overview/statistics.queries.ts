import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { answerOf, api, type Schemas } from '../../app/api.js';
import { bucketsOf, type Range } from './ranges.js';

export type History = Schemas['AttemptHistory'];

/** What workers count is ten seconds old. */
const READ_AGAIN_MS = 15_000;

/** How the attempts of a time range went, of the whole account. @param accountId for the platform: of another one */
export const statisticsQuery = (range: Range, accountId?: string) =>
  queryOptions({
    queryKey: ['statistics', range, { accountId }],
    refetchInterval: READ_AGAIN_MS,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => {
      const query = {
        ...bucketsOf(range, Date.now()),
        ...(accountId !== undefined && { accountId }),
      };
      return answerOf(api.GET('/v1/stats', { params: { query }, signal }));
    },
  });

/** The same of one subscription. */
export const subscriptionStatisticsQuery = (id: string, range: Range) =>
  queryOptions({
    queryKey: ['statistics', range, id],
    refetchInterval: READ_AGAIN_MS,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<History | undefined> => {
      const params = { path: { id }, query: bucketsOf(range, Date.now()) };
      const { history } = await answerOf(api.GET('/v1/webhooks/{id}/stats', { params, signal }));
      return history;
    },
  });
