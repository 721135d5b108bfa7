import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Until when a credential is valid, and when it was last used. */
export class Credentials1763700000005 implements MigrationInterface {
  readonly name = 'Credentials1763700000005';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(CREDENTIALS);
  }

  /** Never down: a step back is a restore (docs/operating.md). */
  down(): Promise<void> {
    return Promise.reject(new Error('migrations are not undone; restore a backup instead'));
  }
}

// expires_at: none is never. last_used_at: to about a minute.
const CREDENTIALS = `
ALTER TABLE credentials
  ADD COLUMN expires_at timestamptz,
  ADD COLUMN last_used_at timestamptz;
`;
