import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What is known of a target's health, pausing, and a subscription's own retry policy. */
export class Flow1763700000002 implements MigrationInterface {
  readonly name = 'Flow1763700000002';

  async up(runner: QueryRunner): Promise<void> {
    for (const sql of [WEBHOOKS, FEEDING]) await runner.query(sql);
  }

  /** Never down: a step back is a restore (docs/operating.md). */
  down(): Promise<void> {
    return Promise.reject(new Error('migrations are not undone; restore a backup instead'));
  }
}

// failures: in a row, the first of them at failing_since. open_until: the circuit is open, and from
// then on one delivery at a time is a probe; openings counts how often that went wrong. closed_at:
// when it closed, from where the calls at once grow again. retry: {schedule, timeoutMs}.
const WEBHOOKS = `
ALTER TABLE webhooks
  ADD COLUMN paused boolean NOT NULL DEFAULT false,
  ADD COLUMN retry jsonb,
  ADD COLUMN failures integer NOT NULL DEFAULT 0,
  ADD COLUMN failing_since timestamptz,
  ADD COLUMN open_until timestamptz,
  ADD COLUMN openings integer NOT NULL DEFAULT 0,
  ADD COLUMN closed_at timestamptz;
`;

// As before, but passes over what is paused, or behind an open circuit, as over what is held.
const FEEDING = `
CREATE OR REPLACE FUNCTION due_deliveries(share integer) RETURNS TABLE (
  webhook_id bigint, account_id bigint, id uuid, next_attempt_at timestamptz,
  claimed_until timestamptz
)
LANGUAGE plpgsql STABLE AS $$
DECLARE
  part regclass;
  any_pending bigint;
BEGIN
  FOR part IN
    SELECT inhrelid::regclass FROM pg_inherits
    WHERE inhparent = 'deliveries'::regclass AND NOT inhdetachpending
  LOOP
    -- Asked in the order of the index on what is pending: EXISTS would read the whole partition
    -- where statistics made while much was pending promise a quick find.
    EXECUTE format(
      'SELECT webhook_id FROM %s WHERE state = ''pending'' ORDER BY webhook_id, next_attempt_at LIMIT 1',
      part
    ) INTO any_pending;
    CONTINUE WHEN any_pending IS NULL;
    RETURN QUERY EXECUTE format($query$
      WITH RECURSIVE step AS (
        (SELECT d.webhook_id, d.next_attempt_at FROM %1$s d WHERE d.state = 'pending'
         ORDER BY d.webhook_id, d.next_attempt_at LIMIT 1)
        UNION ALL
        SELECT next.webhook_id, next.next_attempt_at
        FROM step CROSS JOIN LATERAL (
          SELECT d.webhook_id, d.next_attempt_at FROM %1$s d
          WHERE d.state = 'pending' AND d.webhook_id > step.webhook_id
          ORDER BY d.webhook_id, d.next_attempt_at LIMIT 1
        ) next
      )
      SELECT w.id, w.account_id, due.id, due.next_attempt_at, due.claimed_until
      FROM step JOIN webhooks w ON w.id = step.webhook_id
      CROSS JOIN LATERAL (
        SELECT d.id, d.next_attempt_at, d.claimed_until FROM %1$s d
        WHERE d.webhook_id = w.id AND d.state = 'pending' AND d.next_attempt_at <= now()
          AND d.generation = w.generation
        ORDER BY d.next_attempt_at, d.id LIMIT $1
      ) due
      WHERE step.next_attempt_at <= now() AND w.enabled AND w.deleted_at IS NULL AND NOT w.paused
        AND (w.hold_until IS NULL OR w.hold_until <= now())
        AND (w.open_until IS NULL OR w.open_until <= now())
    $query$, part) USING share;
  END LOOP;
END
$$;
`;
