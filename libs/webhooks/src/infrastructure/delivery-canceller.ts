import { Injectable } from '@nestjs/common';
import { Database, isUnavailable, Log } from '#libs/kernel';
import { CANCEL, END_CANCELLING } from './delivery-canceller.statements.js';
import { Rounds } from './rounds.js';

/** Cancelling millions leaves half of the time to what is to be delivered. */
const ROUNDS = { everyMs: 500, share: 0.5 };
const ROUND_MS = 500;
const BATCH = 1_000;

/**
 * Writes to the rows of deliveries that their subscription was switched off or deleted. Runs in
 * every worker, beside the feeder: that must not wait, however many rows there are.
 */
@Injectable()
export class DeliveryCanceller {
  private readonly rounds = new Rounds(() => this.round(), ROUNDS);

  constructor(
    private readonly database: Database,
    private readonly log: Log,
  ) {}

  start(): void {
    this.rounds.start();
  }

  /** Ends after the round that is under way. */
  stop(): Promise<void> {
    return this.rounds.stop();
  }

  private async round(): Promise<void> {
    try {
      const end = performance.now() + ROUND_MS;
      let cancelled: unknown[];
      do {
        cancelled = await this.database.run(CANCEL, [BATCH]);
      } while (cancelled.length === BATCH && performance.now() < end);
      await this.database.run(END_CANCELLING, []);
    } catch (error) {
      // A database that is away is tried again in half a second, and needs no line each time.
      if (!isUnavailable(error)) this.log.error({ err: error }, 'deliveries were not cancelled');
    }
  }
}
