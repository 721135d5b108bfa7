import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Log } from '../logging/log.js';
import { Database } from './database.js';

const DAYS_AHEAD = 7;
const HOUR_MS = 3_600_000;

const ENSURE = { name: 'partitions.ensure', text: 'SELECT ensure_partitions($1) AS made' };

/** Keeps the partitions of events, deliveries and attempts a week ahead; runs in every process that serves. */
@Injectable()
export class PartitionKeeper implements OnApplicationBootstrap, OnModuleDestroy {
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly database: Database,
    private readonly log: Log,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.ensure();
    this.timer = setInterval(() => void this.ensure(), HOUR_MS);
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }

  private async ensure(): Promise<void> {
    try {
      await this.database.query(ENSURE, [DAYS_AHEAD]);
    } catch (error) {
      // A week of partitions is ahead, so the next hour is early enough.
      this.log.error({ err: error }, 'partitions could not be made ahead');
    }
  }
}
