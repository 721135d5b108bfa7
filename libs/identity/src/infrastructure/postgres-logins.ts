import { Injectable } from '@nestjs/common';
import { LRUCache } from '#libs/kernel';
import { BackgroundTasks, Database, prepared, TypeOrmTransactions } from '#libs/runtime';
import { CredentialUses, type Login, Logins, type Principal } from '../domain/logins.js';
import type { CredentialScope } from '../domain/access.js';
import type { UserStatus } from '../domain/user.js';

interface LoginRow extends Omit<Principal, 'scope'> {
  status: UserStatus;
  salt: Buffer;
  id: string | null;
  hash: Buffer | null;
  scope: CredentialScope | null;
}

/** SQL: whether a credential `c` has not expired. */
export const UNEXPIRED = '(c.expires_at IS NULL OR c.expires_at > now())';

/** A user with its valid credentials: one row for each, or a single row if there are none. */
export const FIND_LOGIN = prepared<{ username: string }, LoginRow>(
  'logins.find',
  `
SELECT u.id AS "userId", u.username, u.role, u.status, u.salt, c.id, c.hash, c.scope
FROM users u LEFT JOIN credentials c
  ON c.user_id = u.id AND ${UNEXPIRED}
WHERE u.username = @username ORDER BY c.id`,
);

export const PRINCIPAL_OF = prepared<{ credentialId: string }, Principal>(
  'logins.principal-of',
  `
SELECT u.id AS "userId", u.username, u.role, c.scope
FROM credentials c JOIN users u ON u.id = c.user_id
WHERE c.id = @credentialId AND u.status = 'active'
  AND ${UNEXPIRED}`,
);

/**
 * Writes the hour, once: the exact time of every login is nobody's business. Locks rows in order of id and without
 * waiting, because other processes write the same rows.
 */
export const WRITE_USES = prepared<{ ids: string[] }>(
  'credentials.used',
  `
WITH used AS (
  SELECT id FROM credentials
  WHERE id = ANY (@ids::bigint[])
    AND (last_used_at IS NULL OR last_used_at < date_trunc('hour', now(), 'UTC'))
  ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE credentials c SET last_used_at = date_trunc('hour', now(), 'UTC') FROM used WHERE c.id = used.id`,
);

@Injectable()
export class PostgresLogins implements Logins {
  constructor(private readonly transactions: TypeOrmTransactions) {}

  async find(username: string): Promise<Login | undefined> {
    const rows = await this.transactions.query(FIND_LOGIN, { username });
    const [first] = rows;
    if (!first) return undefined;
    const { userId, role, status, salt } = first;
    return {
      user: { userId, username, role },
      status,
      salt,
      credentials: rows.flatMap(({ id, hash, scope }) =>
        id && hash && scope ? [{ id, hash, scope }] : [],
      ),
    };
  }

  async principalOf(credentialId: string): Promise<Principal | undefined> {
    const [principal] = await this.transactions.query(PRINCIPAL_OF, { credentialId });
    return principal;
  }
}

/** Shorter than an hour, because the clock of PostgreSQL decides when the next one begins. */
const NOTED_EVERY_MS = 60_000;
/** How often one statement writes the collected uses. */
const FLUSH_MS = 1_000;
/** As many as the authenticator caches. */
const MAX_CACHED = 5_000;

/** Writes uses in the background; they wait while PostgreSQL is unavailable. */
@Injectable()
export class PostgresCredentialUses implements CredentialUses {
  /** When the last stored use of each credential was noted, as `performance.now()`. */
  private readonly notedAt = new LRUCache<string, number>({ max: MAX_CACHED });
  private readonly unwritten = new Set<string>();

  constructor(
    tasks: BackgroundTasks,
    private readonly database: Database,
  ) {
    tasks.add('credential-uses', { everyMs: FLUSH_MS }, () => this.write());
  }

  note(credentialId: string): void {
    const now = performance.now();
    if (now - (this.notedAt.get(credentialId) ?? -Infinity) < NOTED_EVERY_MS) return;
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
