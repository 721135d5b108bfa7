import { Injectable } from '@nestjs/common';
import { LRUCache } from '#libs/kernel';
import { BackgroundTasks, Database } from '#libs/runtime';
import { CredentialUses } from '../domain/credential-uses.js';
import { WRITE_USES } from './user.statements.js';

const WRITTEN_EVERY_MS = 60_000;
/** How often one statement writes the collected uses. */
const FLUSH_MS = 1_000;
/** As many as the authenticator caches. */
const MAX_KNOWN = 5_000;

/** Writes uses in the background; they wait while PostgreSQL is unavailable. */
@Injectable()
export class PostgresCredentialUses extends CredentialUses {
  /** When the last stored use of each credential was noted, as `performance.now()`. */
  private readonly notedAt = new LRUCache<string, number>({ max: MAX_KNOWN });
  private readonly unwritten = new Set<string>();

  constructor(
    tasks: BackgroundTasks,
    private readonly database: Database,
  ) {
    super();
    tasks.add('credential-uses', { everyMs: FLUSH_MS }, () => this.write());
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
