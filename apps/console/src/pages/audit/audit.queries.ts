import { api, type Schemas } from '../../app/api.js';
import { pagedQuery } from '../../app/paged-query.js';

export type AuditEntry = Schemas['AuditEntry'];

/** Changes that match the API's filters, newest first. */
export const auditQuery = (filters: Record<string, string>) =>
  pagedQuery(['audit', filters], (page, signal) =>
    api.GET('/v1/audit', { params: { query: { ...filters, ...page } }, signal }),
  );
