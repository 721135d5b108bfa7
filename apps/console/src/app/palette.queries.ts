import { queryOptions } from '@tanstack/react-query';
import { answerOf, api } from './api.js';

/** The palette shows at most this many events. */
const MOST = 5;
/** Another key within this time replaces the search. */
const TYPING_MS = 250;

/** Whether the API searches for a text of this length. */
export const canBeSearched = (text: string): boolean => /^.{3,200}$/su.test(text);

/**
 * The newest events with this producer's id; without any, those with this text in their data, among the newest that the
 * API reads for one page.
 */
export const foundEventsQuery = (text: string) =>
  queryOptions({
    queryKey: ['events', 'found', text],
    queryFn: async ({ signal }) => {
      await new Promise((resolve) => {
        setTimeout(resolve, TYPING_MS);
      });
      signal.throwIfAborted();
      const read = (filter: { producerId: string } | { contains: string }) => {
        const query = { ...filter, limit: MOST };
        return answerOf(api.GET('/v1/events', { params: { query }, signal }));
      };
      const byId = await read({ producerId: text });
      return byId.length > 0 ? byId : read({ contains: text });
    },
  });
