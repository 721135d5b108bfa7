import {
  type BeforeApplicationShutdown,
  Injectable,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { Database, isUnavailable, Log, Transactions, UnavailableError } from '#libs/kernel';
import { CONTINUE_REPLAY, END_REPLAYS, READY_REPLAYS, TAKE_REPLAY } from './replay.statements.js';
import { Rounds } from './rounds.js';

const ROUNDS = { everyMs: 500, share: 0.25 };
/** So many begin anew at once, and so many of a subscription wait at the most before more do. */
const BATCH = 500;

/**
 * Carries out replays, a batch of each at a time, as fast as their targets take them. Runs in every
 * worker. How far a replay came is stored with what it did, so another worker goes on with just the
 * next delivery.
 */
@Injectable()
export class DeliveryReplayer implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly rounds = new Rounds(() => this.round(), ROUNDS);

  constructor(
    private readonly transactions: Transactions,
    private readonly database: Database,
    private readonly log: Log,
  ) {}

  onApplicationBootstrap(): void {
    this.rounds.start();
  }

  /** Ends after the round that is under way. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.rounds.stop();
  }

  private async round(): Promise<void> {
    try {
      await this.database.run(END_REPLAYS, []);
      const ready = await this.database.run<{ id: string }>(READY_REPLAYS, [BATCH]);
      for (const { id } of ready) await this.continue(id);
    } catch (error) {
      // A database that is away is tried again in half a second, and needs no line each time.
      if (error instanceof UnavailableError || isUnavailable(error)) return;
      this.log.error({ err: error }, 'deliveries were not replayed');
    }
  }

  private async continue(id: string): Promise<void> {
    await this.transactions.run(async () => {
      const { manager } = this.transactions;
      const taken = await manager.query<unknown[]>(TAKE_REPLAY, [BATCH, id]);
      if (taken.length > 0) await manager.query(CONTINUE_REPLAY, [id, BATCH]);
    });
  }
}
