import { createParamDecorator, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { FairSemaphore, RateLimitedError, swapRemove } from '#libs/kernel';
import { CONFIG, type Config } from '#libs/runtime';
import { endOf } from './request.js';

/** Limits for an account in one process. Honest clients stay far below them. */
const MAX_REQUESTS = 200;
const MAX_BYTES = 16 << 20;
/** Concurrent list queries of an account. */
const READS_PER_ACCOUNT = 1;
/**
 * With more list queries waiting, an account pauses after each: for its duration, once for each query beyond these. So
 * exports at the same time do not slow each other, but a flood of lists gets a tenth of the time.
 */
const UNPAUSED = 16;
const MOST_PAUSES = 9;
const RETRY_AFTER_MS = 1_000;

/** A request, and its bytes in memory besides the answer that is being sent. */
interface Held {
  response: Response;
  bytes: number;
}

/**
 * Limits what an account has in flight in this process: requests, incoming bodies, answers that the client
 * has not read, and list queries.
 */
@Injectable()
export class InFlight {
  private readonly accounts = new Map<string, Held[]>();
  private readonly reads: FairSemaphore;

  constructor(@Inject(CONFIG) { DATABASE_POOL_SIZE }: Config) {
    const atOnce = DATABASE_POOL_SIZE >> 1;
    this.reads = new FairSemaphore({
      atOnce,
      atOnceOfOne: READS_PER_ACCOUNT,
      maxPauses: MOST_PAUSES,
      unpaused: UNPAUSED,
    });
  }

  /** @throws RateLimitedError */
  begin(accountId: string, request: Request, response: Response): void {
    const account = this.accounts.get(accountId) ?? [];
    const refuse = (): never => {
      const message = 'The account has too many requests, or too large ones, in progress.';
      throw new RateLimitedError(message, RETRY_AFTER_MS);
    };
    if (account.length >= MAX_REQUESTS || bytesOf(account) > MAX_BYTES) refuse();
    // If the client has already disconnected, there will be no `close` event.
    const held: Held = { response, bytes: 0 };
    if (!response.destroyed) {
      this.accounts.set(accountId, account);
      account.push(held);
      response.once('close', () => {
        swapRemove(account, held);
        if (account.length === 0) this.accounts.delete(accountId);
      });
    }
    request.inFlight = {
      // A client that disconnects while it waits must not stay in memory, nor delay others of its account.
      read: (work) => this.reads.run(work, accountId, endOf(response)),
      hold: (bytes) => {
        if (!account.includes(held)) return;
        held.bytes = bytes;
        if (bytesOf(account) > MAX_BYTES) refuse();
      },
    };
  }
}

/** Runs a query that is not a lookup by key, fairly among accounts. */
export function readFairly<Result>(
  { inFlight }: Request,
  work: () => Promise<Result>,
): Promise<Result> {
  return inFlight?.read(work) ?? work();
}

/** Runs a query that is not a lookup by key: see {@link readFairly}. */
export type FairRead = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** The {@link FairRead} of a request. */
export const FairReads = createParamDecorator((_: unknown, context: ExecutionContext): FairRead => {
  const request = context.switchToHttp().getRequest<Request>();
  return (work) => readFairly(request, work);
});

/** Bytes of bodies and answers in memory. */
function bytesOf(account: readonly Held[]): number {
  let all = 0;
  for (const { response, bytes } of account) all += bytes + response.writableLength;
  return all;
}
