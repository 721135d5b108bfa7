import { api, type Schemas } from '../../app/api.js';
import { pagedQuery } from '../../app/paged-query.js';

export type Event = Schemas['Event'];

/** Events that match the API's filters, newest first. */
export const eventsQuery = (filters: Record<string, string>) =>
  pagedQuery(['events', filters], (page, signal) => {
    // The API refuses other values of `unmatched` than true and false.
    const query = { ...(filters as object), ...page };
    return api.GET('/v1/events', { params: { query }, signal });
  });
