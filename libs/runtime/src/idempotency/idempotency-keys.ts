import { Injectable } from '@nestjs/common';
import { DomainError } from '#libs/kernel';
import { codeOf } from '../database/database-errors.js';
import { Database } from '../database/database.js';
import { TypeOrmTransactions } from '../database/typeorm-transactions.js';
import { BE_PATIENT, CLAIM_KEY, FORGET_KEYS, KEEP_HREF } from './idempotency-keys.statements.js';

/** SQLSTATE of a lock that was not to be had in time. */
const LOCK_NOT_AVAILABLE = '55P03';

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
      const { accountId, key } = request;
      await this.transactions.query(KEEP_HREF, { accountId, key, href });
      return { href, repeated: false };
    });
  }

  /** Drops up to `limit` keys that are no longer valid. @returns how many */
  async forgetOld(limit: number): Promise<number> {
    return (await this.database.run(FORGET_KEYS, { limit })).length;
  }

  private async claim({ accountId, key, fingerprint }: KeyedRequest): Promise<string | null> {
    await this.transactions.query(BE_PATIENT);
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
