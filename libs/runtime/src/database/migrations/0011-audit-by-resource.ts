import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What happened to a resource is found without reading all that its account did. */
export class AuditByResource1763700000011 implements MigrationInterface {
  readonly name = 'AuditByResource1763700000011';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE INDEX audit_resource_idx ON audit (resource_id, id)');
  }

  /** Never down: a step back is a restore (docs/operating.md). */
  down(): Promise<void> {
    return Promise.reject(new Error('migrations are not undone; restore a backup instead'));
  }
}
