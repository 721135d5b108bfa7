import { expect, it, vi } from 'vitest';
import type { BackgroundTasks, Database, TaskWork, Transactions } from '#libs/kernel';
import type { PendingDays } from './pending-days.js';
import { DeliveryReplayer } from './delivery-replayer.js';
import { READY_REPLAYS, TAKE_REPLAY } from './replay.statements.js';

const locked = new Error('canceling statement due to lock timeout');

/** One run over the replays a, b and c; the rows of b are locked. @returns those that went on */
async function run(signal: AbortSignal): Promise<{ wentOn: string[]; failure: unknown }> {
  const wentOn: string[] = [];
  const query = (statement: object, [id]: [string]) => {
    if (statement === TAKE_REPLAY) {
      if (id === 'b') return Promise.reject(locked);
      wentOn.push(id);
    }
    return Promise.resolve([]);
  };
  const ready = ['a', 'b', 'c'].map((id) => ({ id }));
  const database = {
    run: (statement: object) => Promise.resolve(statement === READY_REPLAYS ? ready : []),
    query: () => Promise.resolve([]),
  };
  const transactions = { query, run: (work: () => Promise<void>) => work() };
  const add = vi.fn<(name: string, options: object, work: TaskWork) => void>();
  new DeliveryReplayer(
    { add } as unknown as BackgroundTasks,
    transactions as unknown as Transactions,
    database as unknown as Database,
    {} as PendingDays,
  );
  const [, , work] = add.mock.calls[0]!;
  const failure: unknown = await work(signal).catch((error: unknown) => error);
  return { wentOn, failure };
}

it('goes on with other replays when one fails, and reports the failure', async () => {
  const { wentOn, failure } = await run(new AbortController().signal);
  expect(wentOn).toEqual(['a', 'c']);
  expect(failure).toBe(locked);
});

it('begins with no other replay when it is stopped', async () => {
  expect((await run(AbortSignal.abort())).wentOn).toEqual([]);
});
