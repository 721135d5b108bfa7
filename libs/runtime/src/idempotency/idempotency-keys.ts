import { Injectable } from '@nestjs/common';
import { DomainError } from '#libs/kernel';
import { codeOf } from '../database/database-errors.js';
import { Database } from '../database/database.js';
import { TypeOrmTransactions } from '../database/typeorm-transactions.js';

/** How long a repeat waits for the transaction of the first; another process may be slow, or frozen. */
const PATIENCE = '2s';
/** How long a process that is frozen, or lost with its machine, keeps a key to itself. */
const LONGEST_IDLE = '15s';
/** SQLSTATE of a lock that was not to be had in time. */
const LOCK_NOT_AVAILABLE = '55P03';

const BE_PATIENT = {
  text: `SELECT set_config('lock_timeout', '${PATIENCE}', true),
  set_config('idle_in_transaction_session_timeout', '${LONGEST_IDLE}', true)`,
};

const EXPIRED = `k.created_at <= now() - interval '24 hours'`;

/**
 * $1 account, $2 key, $3 fingerprint. Waits for a transaction that has the key. `href` is null where
 * the key is new, or old enough to count as new.
 */
const CLAIM = {
  text: `
INSERT INTO idempotency_keys AS k (account_id, key, fingerprint) VALUES ($1, $2, $3)
ON CONFLICT (account_id, key) DO UPDATE SET
  fingerprint = CASE WHEN ${EXPIRED} THEN excluded.fingerprint ELSE k.fingerprint END,
  href = CASE WHEN ${EXPIRED} THEN NULL ELSE k.href END,
  created_at = CASE WHEN ${EXPIRED} THEN now() ELSE k.created_at END
RETURNING href, fingerprint = $3 AS same`,
};

const KEEP = { text: 'UPDATE idempotency_keys SET href = $3 WHERE account_id = $1 AND key = $2' };

/** $1 how many at the most. */
const FORGET = {
  name: 'idempotency-keys.forget',
  text: `
DELETE FROM idempotency_keys WHERE (account_id, key) IN (
  SELECT account_id, key FROM idempotency_keys k WHERE ${EXPIRED}
  ORDER BY created_at LIMIT $1 FOR UPDATE SKIP LOCKED
)
RETURNING 1`,
};

/** A request with the same key is under way: it may be repeated in {@link retryAfterS}. */
export class IdempotencyKeyInUseError extends DomainError {
  override readonly retryAfterS = 1;

  constructor() {
    super(
      'conflict',
      'idempotency_key_in_use',
      'A request with this Idempotency-Key is still under way.',
    );
  }
}

/** The key was used for another request. */
export class IdempotencyKeyReusedError extends DomainError {
  constructor() {
    super(
      'unprocessable',
      'idempotency_key_reused',
      'The Idempotency-Key was used for another request in the last 24 hours.',
    );
  }
}

/** A request that may be sent more than once, and means one thing. */
export interface KeyedRequest {
  /** Its keys are its own. */
  accountId: string;
  key: string;
  /** Tells this request from others; 32 bytes. */
  fingerprint: Buffer;
}

/**
 * Makes what a request asks for at most once. All that is kept is the address of what was made, in
 * the transaction that makes it: it is there if and only if the resource is, whenever a process
 * dies. What fails leaves nothing, and is decided anew.
 */
@Injectable()
export class IdempotencyKeys {
  constructor(
    private readonly transactions: TypeOrmTransactions,
    private readonly database: Database,
  ) {}

  /**
   * @param make makes the resource, with {@link Transactions}, and returns its address
   * @returns the address, and whether an earlier request made what it names
   * @throws IdempotencyKeyInUseError, IdempotencyKeyReusedError, and what `make` throws
   */
  once(
    request: KeyedRequest,
    make: () => Promise<string>,
  ): Promise<{ href: string; repeated: boolean }> {
    return this.transactions.run(async () => {
      const kept = await this.claim(request);
      if (kept !== null) return { href: kept, repeated: true };
      const href = await make();
      await this.transactions.query(KEEP, [request.accountId, request.key, href]);
      return { href, repeated: false };
    });
  }

  /** Drops up to `limit` keys that are no longer valid. @returns how many */
  async forgetOld(limit: number): Promise<number> {
    return (await this.database.run(FORGET, [limit])).length;
  }

  private async claim({ accountId, key, fingerprint }: KeyedRequest): Promise<string | null> {
    await this.transactions.query(BE_PATIENT, []);
    const claimed = await this.transactions
      .query<{ href: string | null; same: boolean }>(CLAIM, [accountId, key, fingerprint])
      .catch((error: unknown) => {
        throw codeOf(error) === LOCK_NOT_AVAILABLE ? new IdempotencyKeyInUseError() : error;
      });
    const [row] = claimed;
    if (row?.same !== true) throw new IdempotencyKeyReusedError();
    return row.href;
  }
}
