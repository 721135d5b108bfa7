import { LOOKED_AT, type LookedAt } from '#libs/kernel';
import { type RowOf, statement } from '#libs/runtime';
import type { AuditRecord } from '../domain/audit-log.js';

interface AuditPage {
  /** The requesting customer; undefined for the platform. */
  viewer: string | undefined;
  after: string | undefined;
  limit: number;
  accountId: string | undefined;
  action: string | undefined;
  resource: string | undefined;
  resourceId: string | undefined;
  since: string | undefined;
  until: string | undefined;
}

/** Not prepared, because the best plan depends on which values are given. */
export const LIST_AUDIT = statement<AuditPage, RowOf<AuditRecord> & LookedAt>(`
SELECT * FROM (
  SELECT id, created_at AS "createdAt", account_id AS "accountId", request_id AS "requestId", action,
    -- A customer is not told who the operators of the service are, nor where they sit.
    CASE WHEN @viewer::bigint IS NULL OR user_id = @viewer THEN user_id END AS "userId",
    CASE WHEN @viewer::bigint IS NULL OR user_id = @viewer OR user_id IS NULL THEN actor
      ELSE 'platform' END AS actor,
    CASE WHEN @viewer::bigint IS NULL OR user_id = @viewer THEN address END AS address,
    split_part(action, '.', 1) AS resource, resource_id AS "resourceId", fields,
    row_number() OVER (ORDER BY id DESC)::integer AS place,
    (@action::text IS NULL OR action = @action)
      AND (@resource::text IS NULL OR split_part(action, '.', 1) = @resource) AS matches
  FROM audit
  WHERE (@viewer::bigint IS NULL OR account_id = @viewer)
    AND (@after::uuid IS NULL OR id < @after)
    AND (@accountId::bigint IS NULL OR account_id = @accountId)
    AND (@resourceId::text IS NULL OR resource_id = @resourceId)
    AND (@since::timestamptz IS NULL OR (created_at >= @since AND id >= least_uuid(@since)))
    AND (@until::timestamptz IS NULL
      OR (created_at < @until AND id < least_uuid(@until + interval '1 ms')))
  ORDER BY id DESC LIMIT ${LOOKED_AT}
) AS looked_at
WHERE matches OR place = ${LOOKED_AT}
ORDER BY id DESC LIMIT @limit`);
