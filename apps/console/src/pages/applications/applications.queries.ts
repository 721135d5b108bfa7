import { api, type Schemas } from '../../app/api.js';
import { pagedQuery } from '../../app/paged-query.js';

export type Application = Schemas['Application'];

/** The account's applications, oldest first. */
export const applicationsQuery = pagedQuery(['applications'], (query, signal) =>
  api.GET('/v1/applications', { params: { query }, signal }),
);
