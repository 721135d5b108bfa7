import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Database, keepNewest, Log, UnavailableError } from '#libs/kernel';
import { CredentialUses } from '../domain/credential-uses.js';

const WRITTEN_EVERY_MS = 60_000;
/** Uses are gathered so long, so that one statement writes them all. */
const GATHER_MS = 1_000;
const TRY_AGAIN_MS = 10_000;
/** As many as pairs are remembered. */
const MAX_KNOWN = 10_000;

// In the order of ids and without waiting, since other processes write the same rows. What one of
// them has just written is left as it is.
const USED = {
  name: 'credentials.used',
  text: `WITH used AS (
      SELECT id FROM credentials
      WHERE id = ANY ($1::bigint[])
        AND (last_used_at IS NULL OR last_used_at < now() - interval '30 seconds')
      ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
    )
    UPDATE credentials c SET last_used_at = now() FROM used WHERE c.id = used.id`,
};

/** Writes uses in the background; while PostgreSQL is away they wait. */
@Injectable()
export class PostgresCredentialUses extends CredentialUses implements OnApplicationShutdown {
  /** When a credential was last written, or is to be, as `performance.now()`. */
  private readonly notedAt = new Map<string, number>();
  private readonly unwritten = new Set<string>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly database: Database,
    private readonly log: Log,
  ) {
    super();
  }

  override note(credentialId: string): void {
    const now = performance.now();
    if (now - (this.notedAt.get(credentialId) ?? -Infinity) < WRITTEN_EVERY_MS) return;
    this.notedAt.delete(credentialId);
    this.notedAt.set(credentialId, now);
    keepNewest(this.notedAt, MAX_KNOWN);
    this.unwritten.add(credentialId);
    this.writeIn(GATHER_MS);
  }

  onApplicationShutdown(): void {
    clearTimeout(this.timer);
  }

  private writeIn(ms: number): void {
    this.timer ??= setTimeout(() => void this.write(), ms).unref();
  }

  private async write(): Promise<void> {
    const ids = [...this.unwritten];
    this.unwritten.clear();
    let nextMs = GATHER_MS;
    try {
      await this.database.query(USED, [ids]);
    } catch (error) {
      if (!(error instanceof UnavailableError)) {
        this.log.error({ err: error }, 'uses of credentials were not written');
      }
      for (const id of ids) this.unwritten.add(id);
      nextMs = TRY_AGAIN_MS;
    }
    this.timer = undefined;
    if (this.unwritten.size > 0) this.writeIn(nextMs);
  }
}
