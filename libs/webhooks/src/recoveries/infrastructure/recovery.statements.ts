import { type NoValues, prepared, type RowOf, statement } from '#libs/runtime';
import type { Notice } from '../../activity/domain/activity.js';
import { SILENCE } from '../../deliveries/domain/delivery.js';
import { STEP_MS } from '../../statistics/domain/attempt-history.js';
import type { Recovery } from '../domain/recovery.js';

interface Span {
  since: string;
  until: string;
}

/** How a recovery changes a subscription: a `healed` one is healthy, as after a success. */
export type Effect = 'switched_on' | 'healed';

/**
 * SQL for the {@link Effect} on subscription `w`; null for none. A circuit that was open before the time had another reason
 * to be.
 * @param since @param until SQL of the time that is recovered
 */
export const effectOf = (since: string, until: string): string => `CASE
    WHEN w.enabled AND coalesce(w.opened_at, w.failing_since) >= ${since}
      AND coalesce(w.opened_at, w.failing_since) < ${until} THEN 'healed'
    WHEN NOT w.enabled AND w.disabled_reason = 'failing' AND w.disabled_at >= ${since} AND w.disabled_at < ${until}
      THEN 'switched_on'
  END`;

/** How many subscriptions {@link LOOK_AT_SUBSCRIPTIONS} looks at. */
export const LOOKED_AT = 50;

/** A subscription that a recovery looks at. */
export interface LookedAt {
  id: string;
  accountId: string;
  /** Whether more attempts failed without an answer than with one, and it is enabled or the service disabled it. */
  isAffected: boolean;
  effect: Effect | null;
  isOpen: boolean;
  disabledAt: Date | null;
  /** The service has yet to cancel what waited when it was disabled. */
  cancelling: boolean;
}

/** The next subscriptions, in the order of their ids. */
export const LOOK_AT_SUBSCRIPTIONS = statement<Span & { after: string }, LookedAt>(`
SELECT w.id, w.account_id AS "accountId", w.effect, w.open_until IS NOT NULL AS "isOpen",
  w.disabled_at AS "disabledAt", w.cancelling,
  (w.enabled OR w.effect IS NOT NULL) AND (
    SELECT coalesce(sum(CASE WHEN outcome = ANY ('{${SILENCE.join(',')}}') THEN count ELSE -count END), 0) > 0
    FROM attempt_counts
    WHERE account_id = w.account_id AND webhook_id = w.id AND outcome <> '2xx'
      -- Its rows have the beginning of their five minutes.
      AND at > @since::timestamptz - make_interval(secs => ${STEP_MS / 1_000}) AND at < @until::timestamptz
  ) AS "isAffected"
FROM (
  SELECT *, ${effectOf('@since::timestamptz', '@until::timestamptz')} AS effect FROM webhooks w
  WHERE id > @after::bigint AND deleted_at IS NULL
  ORDER BY id LIMIT ${LOOKED_AT}
) w
ORDER BY w.id`);

/** @returns no row if another recovery has not reached all subscriptions */
export const START_RECOVERY = statement<
  Span & { userId: string | undefined; address: string | undefined; requestId: string | undefined },
  { id: string }
>(`
INSERT INTO recoveries (id, since, until, user_id, address, request_id)
VALUES (new_uuid(now(), 1), @since::timestamptz, @until::timestamptz, @userId::bigint, @address::text, @requestId::text)
ON CONFLICT DO NOTHING
RETURNING id`);

export const FIND_RECOVERY = prepared<{ id: string }, RowOf<Recovery>>(
  'recoveries.find',
  `
SELECT r.id, r.since, r.until, r.subscriptions, r.circuits_closed AS "circuitsClosed",
  r.switched_on AS "switchedOn", r.deliveries, r.created_at AS "createdAt",
  coalesce(p.sent, 0)::integer AS sent,
  CASE WHEN r.visited_at IS NULL OR p.running THEN 'running' ELSE 'completed' END AS state,
  CASE WHEN r.visited_at IS NOT NULL AND p.running IS NOT TRUE THEN greatest(r.visited_at, p.completed_at) END
    AS "completedAt"
FROM recoveries r CROSS JOIN LATERAL (
  SELECT sum(replayed) AS sent, bool_or(state = 'running') AS running, max(completed_at) AS completed_at
  FROM replays WHERE recovery_id = r.id
) p
WHERE r.id = @id`,
);

/** The recovery that has not reached all subscriptions. */
export const NEXT_RECOVERY = prepared<
  NoValues,
  { id: string; since: Date; until: Date; after: string }
>('recoveries.next', 'SELECT id, since, until, after FROM recoveries WHERE visited_at IS NULL');

/**
 * Recovers one subscription, and stores that the recovery has reached it.
 * @returns no row if another worker has reached it
 */
export const RECOVER = prepared<
  { id: string; webhookId: string; deliveries: number; missed: number },
  { toldBy: Notice[] | null }
>(
  'recoveries.recover',
  `
SELECT told_by AS "toldBy"
FROM recover_webhook(@id::uuid, @webhookId::bigint, @deliveries::integer, @missed::integer) AS told_by`,
);

/** Stores that a recovery has reached a subscription, and whether it is the last one. */
export const ADVANCE = prepared<{ id: string; after: string; isLast: boolean }>(
  'recoveries.advance',
  `
UPDATE recoveries SET after = greatest(after, @after), visited_at = CASE WHEN @isLast::boolean THEN now() END
WHERE id = @id AND visited_at IS NULL`,
);
