import { api, type Schemas } from '../../app/api.js';
import { pagedQuery } from '../../app/paged-query.js';

export type Event = Schemas['Event'];

/** Events that match filters as the API has them, newest first. */
export const eventsQuery = (filters: Record<string, string>) =>
  pagedQuery(['events', filters], (page, signal) => {
    // Another `unmatched` than true or false is the API's to refuse.
    const query = { ...(filters as object), ...page };
    return api.GET('/v1/events', { params: { query }, signal });
  });
