import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Replays: a subscription's finished deliveries of a time, sent again one batch after the other. */
export class Replay1763700000003 implements MigrationInterface {
  readonly name = 'Replay1763700000003';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(REPLAYS);
  }

  /** Never down: a step back is a restore (docs/operating.md). */
  down(): Promise<void> {
    return Promise.reject(new Error('migrations are not undone; restore a backup instead'));
  }
}

// generation: that of the subscription when it was asked for; another one means that it was switched
// off since. after: the last delivery that was looked at; they go in the order of their ids. No
// foreign keys, as deliveries have none.
const REPLAYS = `
CREATE TABLE replays (
  id uuid NOT NULL,
  webhook_id bigint NOT NULL,
  account_id bigint NOT NULL,
  generation integer NOT NULL,
  since timestamptz NOT NULL,
  until timestamptz NOT NULL,
  states text[] NOT NULL,
  state text NOT NULL DEFAULT 'running',
  total integer NOT NULL,
  replayed integer NOT NULL DEFAULT 0,
  after uuid NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  completed_at timestamptz,
  CONSTRAINT replays_pkey PRIMARY KEY (id),
  CONSTRAINT replays_state_check CHECK (state IN ('running', 'completed', 'cancelled'))
);
CREATE INDEX replays_running_idx ON replays (webhook_id, id) WHERE state = 'running';

ALTER TABLE deliveries ADD COLUMN replayed boolean NOT NULL DEFAULT false;
`;
