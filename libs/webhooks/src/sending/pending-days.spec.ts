import { setImmediate as nextIteration } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { BackgroundTasks, Database } from '#libs/runtime';
import { PendingDays } from './pending-days.js';

it('leaves a failed first scan to its caller alone, and scans again', async () => {
  let scan = (): Promise<void> => Promise.reject(new Error('no task was added'));
  const tasks = { add: (_name: string, _options: unknown, task: typeof scan) => (scan = task) };
  let scans = 0;
  const run = () => Promise.reject(new Error(`PostgreSQL is away ${(scans += 1)}`));
  const days = new PendingDays({ run } as unknown as Database, tasks as unknown as BackgroundTasks);
  // Vitest fails for a rejection that nobody handles, which would end a process.
  await expect(scan()).rejects.toThrow('PostgreSQL is away 1');
  await nextIteration();
  await expect(days.all()).rejects.toThrow('PostgreSQL is away 2');
});
