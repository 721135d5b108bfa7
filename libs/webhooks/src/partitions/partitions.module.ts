import { Injectable, Module } from '@nestjs/common';
import { BackgroundTasks, Database, prepared } from '#libs/runtime';

export const DAYS_AHEAD = 7;

export const ENSURE = prepared<{ daysAhead: number }>(
  'partitions.ensure',
  'SELECT ensure_partitions(@daysAhead)',
);

/**
 * An installation that was off for a week has no partition for today. If the machine has slept for so long, or its clock was
 * set forward, PostgreSQL takes no events and attempts until then.
 */
const OPTIONS = { everyMs: 5_000, beforeServing: true };

/**
 * Creates the partitions of events, deliveries and attempts a week ahead. Runs in every serving process.
 */
@Injectable()
class PartitionKeeper {
  constructor(tasks: BackgroundTasks, database: Database) {
    tasks.add('partitions', OPTIONS, async () => {
      await database.run(ENSURE, { daysAhead: DAYS_AHEAD });
    });
  }
}

/** Creates the partitions of the coming days. */
@Module({ providers: [PartitionKeeper] })
export class PartitionsModule {}
