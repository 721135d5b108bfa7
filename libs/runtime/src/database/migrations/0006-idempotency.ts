import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What requests with an `Idempotency-Key` made, so that a repeat makes nothing more. */
export class Idempotency1763700000006 implements MigrationInterface {
  readonly name = 'Idempotency1763700000006';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(IDEMPOTENCY_KEYS);
  }

  /** Never down: a step back is a restore (docs/operating.md). */
  down(): Promise<void> {
    return Promise.reject(new Error('migrations are not undone; restore a backup instead'));
  }
}

// href: of what was made; null only inside the transaction that makes it.
const IDEMPOTENCY_KEYS = `
CREATE TABLE idempotency_keys (
  account_id bigint NOT NULL,
  key text NOT NULL,
  fingerprint bytea NOT NULL,
  href text,
  created_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT idempotency_keys_pkey PRIMARY KEY (account_id, key)
);
CREATE INDEX idempotency_keys_created_idx ON idempotency_keys (created_at);
`;
