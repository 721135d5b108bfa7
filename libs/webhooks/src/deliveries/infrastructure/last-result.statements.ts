import { type Span, within } from '../../partitions/partition-walk.js';

/**
 * Whether @status names the result of a delivery's last attempt: its status, the class of it, its error, or
 * `failed` for all but 2xx. Looks the attempt up for each delivery, because the planner would read all to join them.
 */
export const hasResult = (
  deliveryId: string,
  span: Span,
): string => `(@status::text IS NULL OR @status IN (
      SELECT unnest(ARRAY[status::text, status / 100 || 'xx', error,
        CASE WHEN status / 100 = 2 THEN NULL ELSE 'failed' END]) FROM (
        SELECT status, error FROM attempts
        WHERE delivery_id = ${deliveryId} AND ${within('delivery_id', span)} ORDER BY take DESC LIMIT 1
      ) last
    ))`;
