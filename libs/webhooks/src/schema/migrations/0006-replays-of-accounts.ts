import { migrationOf } from '#libs/runtime';

/**
 * Replays of a whole account, and with further filters. webhook_id: null for all subscriptions of the account.
 * generation: null if the replay has parts, one for each subscription that it has not finished; their columns
 * mean the same as those of a replay without parts. Earlier workers skip a replay without a generation, because
 * they would ignore its filters.
 */
export const replaysOfAccounts = migrationOf(
  'ReplaysOfAccounts1764040000006',
  `
ALTER TABLE replays
  ALTER COLUMN webhook_id DROP NOT NULL,
  ALTER COLUMN generation DROP NOT NULL,
  ADD COLUMN event text,
  ADD COLUMN application_id bigint,
  ADD COLUMN status text;
CREATE INDEX replays_account_idx ON replays (account_id, id) WHERE webhook_id IS NULL;

CREATE TABLE replay_parts (
  replay_id uuid NOT NULL,
  webhook_id bigint NOT NULL,
  generation integer NOT NULL,
  after uuid NOT NULL,
  CONSTRAINT replay_parts_pkey PRIMARY KEY (replay_id, webhook_id)
) WITH (fillfactor = 80);
CREATE INDEX replay_parts_webhook_idx ON replay_parts (webhook_id, replay_id);
`,
);
