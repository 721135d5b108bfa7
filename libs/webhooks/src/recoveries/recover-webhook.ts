import { recordForUser } from '#libs/identity';
import { CLOCK } from '#libs/runtime';
import { LEAST_ID } from '../replays/replay-progress.statements.js';
import { HEALTHY, SWITCHED_ON } from '../subscriptions/domain/subscription-life.js';
import { assignedWhere, REVISED } from '../subscriptions/webhook.schema.js';
import { effectOf } from './infrastructure/recovery.statements.js';

/** Assignments for subscription `w`, whatever its row has. */
const assigned = (values: Parameters<typeof assignedWhere>[1][string]) =>
  assignedWhere(`'all'`, { all: values });

/**
 * Recovers a subscription for a running recovery that has not reached it yet: closes its circuit or enables it, starts
 * replays of what it lost, records that for the operator who asked, and tells the account's other subscriptions. Returns a
 * row, which names the events that tell of it; none if the recovery has reached it or another worker is at it. A worker
 * calls this function because it may neither record for a user nor start replays, and cannot recover others with it.
 *
 * The subscription is looked at again once it is locked, because its customer may have changed it.
 */
export const RECOVER_WEBHOOK = `
CREATE OR REPLACE FUNCTION recover_webhook(recovery uuid, webhook bigint, lost integer, unseen integer)
RETURNS SETOF json LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  job recoveries;
  subject webhooks;
  effect text;
  is_closed boolean;
  told_by json;
BEGIN
  SELECT * INTO job FROM recoveries
  WHERE id = recovery AND visited_at IS NULL AND after < webhook FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  SELECT * INTO subject FROM webhooks w
  WHERE w.id = webhook AND w.deleted_at IS NULL FOR NO KEY UPDATE;
  SELECT ${effectOf('job.since', 'job.until')} INTO effect FROM webhooks w
  WHERE w.id = subject.id;
  IF subject.id IS NULL OR NOT subject.enabled AND effect IS NULL THEN
    UPDATE recoveries SET after = webhook WHERE id = recovery;
    RETURN NEXT NULL;
    RETURN;
  END IF;
  is_closed := effect = 'healed' AND subject.open_until IS NOT NULL;
  IF effect = 'switched_on' THEN
    WITH ${CLOCK} UPDATE webhooks w SET ${assigned({ ...SWITCHED_ON, ...REVISED })}
    WHERE w.id = webhook;
  ELSIF effect = 'healed' THEN
    -- As after a success: deliveries accepted from now on must not overtake waiting ones.
    UPDATE webhooks w SET backlog = w.backlog OR is_closed, ${assigned(HEALTHY)}
    WHERE w.id = webhook;
  END IF;
  ${recordForUser('webhook.recover', {
    accountId: 'subject.account_id',
    userId: 'job.user_id',
    address: 'job.address',
    requestId: 'job.request_id',
    resourceId: 'webhook::text',
    fields: `CASE effect WHEN 'switched_on' THEN '{enabled}'::text[] ELSE '{}' END`,
  })};
  WITH replay AS (
    INSERT INTO replays (id, webhook_id, account_id, since, until, states, missed, total, recovery_id)
    SELECT new_uuid(now(), 1), webhook, subject.account_id, job.since, job.until,
      CASE effect WHEN 'switched_on' THEN '{exhausted,cancelled}'::text[] ELSE '{exhausted}' END,
      false, lost, recovery
    WHERE lost > 0
    UNION ALL
    SELECT new_uuid(now(), 2), webhook, subject.account_id, subject.disabled_at, now(), '{}', true, unseen,
      recovery
    WHERE effect = 'switched_on'
    RETURNING id, missed, total
  )
  INSERT INTO replay_parts (replay_id, account_id, webhook_id, generation, after, remaining)
  SELECT id, subject.account_id, webhook, subject.generation,
    CASE WHEN missed THEN least_uuid(subject.disabled_at) ELSE '${LEAST_ID}'::uuid END, total FROM replay;
  UPDATE recoveries SET after = webhook, subscriptions = subscriptions + 1,
    circuits_closed = circuits_closed + CASE WHEN is_closed THEN 1 ELSE 0 END,
    switched_on = switched_on + CASE WHEN effect = 'switched_on' THEN 1 ELSE 0 END,
    deliveries = deliveries + lost + unseen
  WHERE id = recovery;
  IF is_closed OR effect = 'switched_on' THEN
    told_by := tell_of_webhook(webhook, 'webhookRecovered', subject.failing_since, NULL);
  END IF;
  RETURN NEXT told_by;
END
$$;
`;
