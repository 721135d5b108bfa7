import { Injectable } from '@nestjs/common';
import { BackgroundTasks } from '../background/background-tasks.js';
import { Database } from './database.js';

// An installation that was off for a week has none for today.
const OPTIONS = { everyMs: 300_000, beforeServing: true };

/** Keeps partitions a week ahead; runs in every process that serves. */
@Injectable()
export class PartitionKeeper {
  constructor(tasks: BackgroundTasks, database: Database) {
    tasks.add('partitions', OPTIONS, () => database.ensurePartitions());
  }
}
