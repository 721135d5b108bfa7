import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Database } from './database.js';

const HOUR_MS = 3_600_000;

/** Keeps partitions a week ahead, so the next hour is early enough; runs in every process that serves. */
@Injectable()
export class PartitionKeeper implements OnApplicationBootstrap, OnModuleDestroy {
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly database: Database) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.database.ensurePartitions();
    this.timer = setInterval(() => void this.database.ensurePartitions(), HOUR_MS);
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }
}
