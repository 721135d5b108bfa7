import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which worker process made an attempt. */
export class AttemptWorker1763700000009 implements MigrationInterface {
  readonly name = 'AttemptWorker1763700000009';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(WORKER);
  }

  /** Never down: a step back is a restore (docs/operating.md). */
  down(): Promise<void> {
    return Promise.reject(new Error('migrations are not undone; restore a backup instead'));
  }
}

// Null for attempts of versions before this one.
const WORKER = `
ALTER TABLE attempts ADD COLUMN worker text;
`;
