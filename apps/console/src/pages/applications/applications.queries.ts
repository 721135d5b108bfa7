import { accountQuery, readOnce } from '../../app/account.js';
import { api, type Schemas } from '../../app/api.js';
import { pagedQuery } from '../../app/paged-query.js';

export type Application = Schemas['Application'];

/**
 * The account's applications, oldest first. @param customer for the platform: of another account
 */
export const applicationsQuery = (customer?: string) => ({
  ...pagedQuery<Application>(['applications', { customer }], (page, signal) => {
    const query = { ...page, ...accountQuery(customer) };
    return api.GET('/v1/applications', { params: { query }, signal });
  }),
  ...readOnce(customer),
});
