import { Inject, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { DomainError, RateLimitedError, FairSemaphore } from '#libs/kernel';
import { CONFIG, type Config } from '#libs/runtime';

/** What an account may have under way at a process: no honest client comes near. */
const MAX_REQUESTS = 200;
const MAX_BYTES = 16 << 20;
/** Reads of lists that an account may have under way in the database. */
const READS_OF_ONE = 1;
/** So many times as long as one took the account waits for its next, if it asks for several lists at once. */
const REST = 3;
const AGAIN_MS = 1_000;

/** A request of an account, until its answer is taken. */
export interface RequestInFlight {
  /** Reads something that is not found by its key: accounts take turns at half of the connections. */
  read: <Result>(work: () => Promise<Result>) => Promise<Result>;
  /**
   * Says how many bytes of the body are in memory now.
   * @throws RateLimitedError
   */
  hold: (bytes: number) => void;
}

/**
 * Bounds what an account has under way at this process: requests, bodies that come in, answers that
 * the client does not take, reads of lists.
 */
@Injectable()
export class InFlight {
  private readonly accounts = new Map<string, Map<Response, number>>();
  private readonly reads: FairSemaphore;

  constructor(@Inject(CONFIG) { DATABASE_POOL_SIZE }: Config) {
    const atOnce = DATABASE_POOL_SIZE >> 1;
    this.reads = new FairSemaphore({ atOnce, atOnceOfOne: READS_OF_ONE, rest: REST });
  }

  /** @throws RateLimitedError */
  begin(accountId: string, request: Request, response: Response): void {
    const account = this.accounts.get(accountId) ?? new Map<Response, number>();
    const refuse = (): never => {
      const message = 'The account has too many requests, or bytes of them, under way.';
      throw new RateLimitedError(message, AGAIN_MS);
    };
    if (account.size >= MAX_REQUESTS || bytesOf(account) > MAX_BYTES) refuse();
    // A client may have left by now, and nobody would tell of it again.
    if (!response.destroyed) {
      this.accounts.set(accountId, account);
      account.set(response, 0);
      response.once('close', () => {
        account.delete(response);
        if (account.size === 0) this.accounts.delete(accountId);
      });
    }
    request.inFlight = {
      read: (work) =>
        this.reads.run(() => {
          // A client that left while it waited must not keep the others of its account waiting.
          if (!account.has(response)) throw hasLeft();
          return work();
        }, accountId),
      hold: (bytes) => {
        if (!account.has(response)) return;
        account.set(response, bytes);
        if (bytesOf(account) > MAX_BYTES) refuse();
      },
    };
  }
}

function hasLeft(): DomainError {
  return new DomainError('request_timeout', 'request_timeout', 'The client has left.');
}

/** Bodies in memory, and what of the answers the clients have not taken. */
function bytesOf(account: ReadonlyMap<Response, number>): number {
  let bytes = 0;
  for (const [response, ofBody] of account) bytes += ofBody + response.writableLength;
  return bytes;
}
