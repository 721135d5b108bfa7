import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What is kept secret of a subscription, encrypted; headers of its own, and Ed25519 signatures. */
export class Secrets1763700000004 implements MigrationInterface {
  readonly name = 'Secrets1763700000004';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(WEBHOOKS);
  }

  /** Never down: a step back is a restore (docs/operating.md). */
  down(): Promise<void> {
    return Promise.reject(new Error('migrations are not undone; restore a backup instead'));
  }
}

// secret, retired_secrets, userinfo and the values of headers, {name: value}, are sealed. userinfo:
// what *** in target_url stands for. target_version: raised with each new target. public_key: of
// the Ed25519 key that secret is; null where that is one for HMAC.
const WEBHOOKS = `
ALTER TABLE webhooks
  ADD COLUMN userinfo text,
  ADD COLUMN target_version integer NOT NULL DEFAULT 1,
  ADD COLUMN headers json,
  ADD COLUMN public_key text;
`;
