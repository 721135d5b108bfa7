import { migrationOf } from '#libs/runtime';

/**
 * Tells an account's other subscriptions that one is failing, was switched off or has recovered: stores an event
 * with a delivery for each that is for this kind of notice, at account level or of the same application.
 * Returns the event; null if there is no such subscription. A worker can say nothing else with it, which is
 * why it calls this instead of inserting events itself.
 *
 * The function is volatile, so it sees the row as the calling statement has just changed it. It locks no row.
 */
export const notices = migrationOf(
  'Notices1764050400007',
  `
CREATE FUNCTION tell_of_webhook(about bigint, kind text, since timestamptz, disables_at timestamptz)
RETURNS uuid LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path FROM CURRENT AS $$
  WITH subject AS (
    SELECT * FROM webhooks
    WHERE id = about AND kind IN ('webhookFailing', 'webhookDisabled', 'webhookRecovered')
  ),
  listening AS MATERIALIZED (
    SELECT w.id, w.generation
    FROM subject s CROSS JOIN LATERAL (
      SELECT * FROM webhooks
      WHERE account_id = s.account_id AND application_id IS NULL AND deleted_at IS NULL
      UNION ALL
      SELECT * FROM webhooks WHERE application_id = s.application_id AND deleted_at IS NULL
    ) w
    WHERE w.id <> s.id AND w.enabled AND w.event = kind AND w.resource = 'all'
  ),
  notice AS (
    INSERT INTO events (id, account_id, application_id, event, resource, occurred_at, created_at,
      data)
    SELECT new_uuid(now(), 1), account_id, application_id, kind, 'all', now(), now(),
      json_strip_nulls(json_build_object(
        'webhookId', id::text,
        'name', name,
        'event', event,
        'targetUrl', regexp_replace(target_url, '//[^/?#]*@', '//'),
        'failingSince', to_char(since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
        'disablesAt', to_char(disables_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
        'reason', CASE kind WHEN 'webhookDisabled' THEN disabled_reason END
      ))::text
    FROM subject WHERE EXISTS (SELECT FROM listening)
    RETURNING id, account_id
  ),
  made AS (
    INSERT INTO deliveries (id, event_id, webhook_id, account_id, event, generation,
      next_attempt_at, created_at)
    SELECT new_uuid(now(), 1 + row_number() OVER ()), n.id, l.id, n.account_id, kind, l.generation,
      now(), now()
    FROM notice n CROSS JOIN listening l
  )
  SELECT id FROM notice
$$;
REVOKE EXECUTE ON FUNCTION tell_of_webhook(bigint, text, timestamptz, timestamptz) FROM PUBLIC;
`,
);
