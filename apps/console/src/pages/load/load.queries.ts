import { queryOptions } from '@tanstack/react-query';
import { answerOf, api } from '../../app/api.js';
import { pagedQuery } from '../../app/paged-query.js';
import { type Range, startOf } from '../overview/ranges.js';
import type { Load } from './loads.js';

/** Both ends are the browser's time, so that a range of seven days is never longer than the API allows. */
function hoursOf(range: Range): { since: string; until: string } {
  const now = Date.now();
  return { since: startOf(range, now), until: new Date(now).toISOString() };
}

/** The accounts with load in a time range. @param order such as `-share` */
export const loadsQuery = (range: Range, order: string) =>
  pagedQuery<Load>(['loads', range, order], (page, signal) => {
    // The API refuses an unknown one.
    const sort = order.replace(/^-/, '') as 'share';
    const direction = order.startsWith('-') ? ('desc' as const) : ('asc' as const);
    const query = { ...page, ...hoursOf(range), sort, order: direction };
    return api.GET('/v1/overview/accounts', { params: { query }, signal });
  });

const TOP = 5;
/** Processes store their counts every ten seconds. */
const AGAIN_MS = 15_000;

/** The accounts with the largest share in the last hour. */
export const topLoadsQuery = queryOptions({
  queryKey: ['loads', 'top'],
  refetchInterval: AGAIN_MS,
  queryFn: ({ signal }) => {
    const query = { ...hoursOf('hour'), limit: TOP };
    return answerOf(api.GET('/v1/overview/accounts', { params: { query }, signal }));
  },
});
