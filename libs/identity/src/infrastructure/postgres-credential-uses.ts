import { Injectable } from '@nestjs/common';
import { LRUCache } from '#libs/kernel';
import { BackgroundTasks, Database } from '#libs/runtime';
import { CredentialUses } from '../domain/credential-uses.js';
import { WRITE_USES } from './user.statements.js';

const WRITTEN_EVERY_MS = 60_000;
/** One statement writes the uses of so long. */
const GATHERED_MS = 1_000;
/** As many as pairs are remembered. */
const MAX_KNOWN = 10_000;

/** Writes uses in the background; while PostgreSQL is away they wait. */
@Injectable()
export class PostgresCredentialUses extends CredentialUses {
  /** When a credential was last written, or is to be, as `performance.now()`. */
  private readonly notedAt = new LRUCache<string, number>({ max: MAX_KNOWN });
  private readonly unwritten = new Set<string>();

  constructor(
    tasks: BackgroundTasks,
    private readonly database: Database,
  ) {
    super();
    tasks.add('credential-uses', { everyMs: GATHERED_MS }, () => this.write());
  }

  override note(credentialId: string): void {
    const now = performance.now();
    if (now - (this.notedAt.get(credentialId) ?? -Infinity) < WRITTEN_EVERY_MS) return;
    this.notedAt.set(credentialId, now);
    this.unwritten.add(credentialId);
  }

  private async write(): Promise<void> {
    const ids = [...this.unwritten];
    if (ids.length === 0) return;
    await this.database.run(WRITE_USES, { ids });
    for (const id of ids) this.unwritten.delete(id);
  }
}
