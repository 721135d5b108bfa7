import { queryOptions } from '@tanstack/react-query';
import { answerOf, api, type Schemas } from '../../app/api.js';

export type Overview = Schemas['Overview'];

/** The API answers with what it read within the last two seconds. */
const AGAIN_MS = 3_000;

/** The state of the installation, read again while the page is visible. */
export const overviewQuery = queryOptions({
  queryKey: ['overview'],
  queryFn: ({ signal }) => answerOf(api.GET('/v1/overview', { signal })),
  staleTime: AGAIN_MS,
  refetchInterval: AGAIN_MS,
});
