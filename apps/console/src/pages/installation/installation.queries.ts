import { queryOptions } from '@tanstack/react-query';
import { answerOf, api, type Schemas } from '../../app/api.js';
import { firstRows } from '../../app/first-rows.js';

export type Overview = Schemas['Overview'];

/** Figures at one point in time. */
export interface Sample {
  pending: number;
  oldestDueS: number;
  inFlight: number;
  /** Absent while Redis is down. */
  jobs?: number;
}

/** The API caches its answer for two seconds. */
const AGAIN_MS = 3_000;
/** Three minutes. */
const SAMPLES = 60;

/** The state of the installation, refetched while the page is visible, and the history of its figures. */
export const overviewQuery = queryOptions({
  queryKey: ['overview'],
  queryFn: async ({ client, queryKey, signal }) => {
    const overview = await answerOf(api.GET('/v1/overview', { signal }));
    const before = client.getQueryData<{ samples: Sample[] }>(queryKey)?.samples ?? [];
    return { overview, samples: [...before, sampleOf(overview)].slice(-SAMPLES) };
  },
  staleTime: AGAIN_MS,
  refetchInterval: AGAIN_MS,
});

function sampleOf({ pending, oldestDueS = 0, workers, queues }: Overview): Sample {
  const alive = workers.filter(({ isAlive }) => isAlive);
  return {
    ...{ pending, oldestDueS, inFlight: sumOf(alive.map(({ inFlight }) => inFlight)) },
    ...(queues && { jobs: sumOf(queues.map(({ waiting }) => waiting)) }),
  };
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0);
}

const FAILURE_AGAIN_MS = 30_000;

/** The outcome of a subscription's newest failed delivery; null if there is none. */
export const lastProblemQuery = (webhookId: string) =>
  queryOptions({
    queryKey: ['overview', 'problem', webhookId],
    staleTime: FAILURE_AGAIN_MS,
    refetchInterval: FAILURE_AGAIN_MS,
    queryFn: async ({ signal }) => {
      const query = { webhookId, status: 'failed' };
      const { rows } = await firstRows(1, (page) =>
        api.GET('/v1/deliveries', { params: { query: { ...query, ...page } }, signal }),
      );
      return rows[0] ?? null;
    },
  });
