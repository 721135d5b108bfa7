import { migrationOf } from '#libs/runtime';

/**
 * Attempts by subscription, time, outcome and answer time (`AttemptCounter`). webhook_id: 0 counts all of the
 * account's subscriptions.
 */
export const attemptCounts = migrationOf(
  'AttemptCounts1764032400003',
  `
CREATE TABLE attempt_counts (
  account_id bigint NOT NULL,
  webhook_id bigint NOT NULL,
  at timestamptz NOT NULL,
  outcome text NOT NULL,
  bin smallint NOT NULL,
  count integer NOT NULL,
  CONSTRAINT attempt_counts_pkey PRIMARY KEY (account_id, webhook_id, at, outcome, bin)
) WITH (fillfactor = 80);
CREATE INDEX attempt_counts_at_idx ON attempt_counts (at);
`,
);
