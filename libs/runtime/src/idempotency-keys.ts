import { Injectable } from '@nestjs/common';
import { DomainError } from '#libs/kernel';
import { codeOf } from './database/database-errors.js';
import { prepared, statement } from './database/statement.js';
import { TypeOrmTransactions } from './database/typeorm-transactions.js';

/** How long a repeat waits for the first request's transaction. */
const LOCK_TIMEOUT = '2s';
/** How long a hanging or lost process can block a key. */
const IDLE_TIMEOUT = '15s';

export const SET_TIMEOUTS = statement(`SELECT set_config('lock_timeout', '${LOCK_TIMEOUT}', true),
  set_config('idle_in_transaction_session_timeout', '${IDLE_TIMEOUT}', true)`);

const LIFETIME = `interval '24 hours'`;

/** `excluded` has the default of `created_at`, because Citus takes no now() here. */
const IS_EXPIRED = `excluded.created_at - k.created_at >= ${LIFETIME}`;

interface ClaimedKey {
  /** Null if the key is new, or has expired and so counts as new. */
  href: string | null;
  same: boolean;
}

/** Waits for another transaction with the same key. */
export const CLAIM_KEY = statement<
  { accountId: string; key: string; fingerprint: Buffer },
  ClaimedKey
>(`
INSERT INTO idempotency_keys AS k (account_id, key, fingerprint)
VALUES (@accountId, @key, @fingerprint)
ON CONFLICT (account_id, key) DO UPDATE SET
  fingerprint = CASE WHEN ${IS_EXPIRED} THEN excluded.fingerprint ELSE k.fingerprint END,
  href = CASE WHEN ${IS_EXPIRED} THEN NULL ELSE k.href END,
  created_at = CASE WHEN ${IS_EXPIRED} THEN excluded.created_at ELSE k.created_at END
RETURNING href, fingerprint = @fingerprint AS same`);

export const STORE_HREF = statement<{ accountId: string; key: string; href: string }>(
  'UPDATE idempotency_keys SET href = @href WHERE account_id = @accountId AND key = @key',
);

/** @returns as many rows as were deleted */
export const DELETE_EXPIRED_KEYS = prepared<{ limit: number }>(
  'idempotency-keys.delete-expired',
  `
DELETE FROM idempotency_keys WHERE ctid = ANY (ARRAY(
  SELECT ctid FROM idempotency_keys WHERE created_at <= now() - ${LIFETIME}
  ORDER BY created_at LIMIT @limit FOR UPDATE SKIP LOCKED
))
RETURNING 1`,
);

const LOCK_NOT_AVAILABLE = '55P03';

/** A request with the same key is still in progress. The client may retry after {@link retryAfterS}. */
export class IdempotencyKeyInUseError extends DomainError {
  override readonly retryAfterS = 1;

  constructor() {
    super(
      'conflict',
      'idempotency_key_in_use',
      'A request with this Idempotency-Key is still in progress.',
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

/** A request that the client may repeat without repeating its effect. */
export interface KeyedRequest {
  /** Keys are scoped to an account. */
  accountId: string;
  key: string;
  /** Distinguishes this request from others; 32 bytes. */
  fingerprint: Buffer;
}

/**
 * Creates the resource of a request at most once. It stores the resource's address in the transaction that
 * creates the resource, so that one exists if and only if the other does. A failed request leaves nothing
 * behind and can be repeated.
 */
@Injectable()
export class IdempotencyKeys {
  constructor(private readonly transactions: TypeOrmTransactions) {}

  /**
   * @param make creates the resource, with {@link Transactions}, and returns its address
   * @returns the address, and whether an earlier request created the resource
   * @throws IdempotencyKeyInUseError, IdempotencyKeyReusedError, and what `make` throws
   */
  once(
    request: KeyedRequest,
    make: () => Promise<string>,
  ): Promise<{ href: string; repeated: boolean }> {
    return this.transactions.run(async () => {
      const stored = await this.claim(request);
      if (stored !== null) return { href: stored, repeated: true };
      const href = await make();
      const { accountId, key } = request;
      await this.transactions.query(STORE_HREF, { accountId, key, href });
      return { href, repeated: false };
    });
  }

  private async claim({ accountId, key, fingerprint }: KeyedRequest): Promise<string | null> {
    await this.transactions.query(SET_TIMEOUTS);
    const claimed = await this.transactions
      .query(CLAIM_KEY, { accountId, key, fingerprint })
      .catch((error: unknown) => {
        throw codeOf(error) === LOCK_NOT_AVAILABLE ? new IdempotencyKeyInUseError() : error;
      });
    const [row] = claimed;
    if (row?.same !== true) throw new IdempotencyKeyReusedError();
    return row.href;
  }
}
