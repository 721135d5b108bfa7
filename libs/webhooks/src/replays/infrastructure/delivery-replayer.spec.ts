import { expect, it, vi } from 'vitest';
import type { BackgroundTasks, Database, TaskWork } from '#libs/runtime';
import type { PendingDays } from '../../sending/pending-days.js';
import { DeliveryReplayer } from './delivery-replayer.js';
import { NEXT_PARTS } from '../replay-progress.statements.js';

const NOTHING_YET = '019a0b1c-2d3e-7f40-8a51-b26c73d84e95';
const locked = new Error('canceling statement due to lock timeout');

/** Runs once for the replays a, b and c; the rows of b are locked. @returns the replays that continued */
async function run(signal: AbortSignal): Promise<{ continuedIds: string[]; failure: unknown }> {
  const continuedIds: string[] = [];
  const of = {
    accountId: '1',
    webhookId: '1',
    fate: 'ready',
    states: [],
    after: NOTHING_YET,
    until: new Date(),
  };
  const ready = ['a', 'b', 'c'].map((id) => ({ ...of, id }));
  const continued = (id: unknown) => {
    if (id === 'b') return Promise.reject(locked);
    if (ready.some((replay) => replay.id === id)) continuedIds.push(String(id));
    return Promise.resolve([]);
  };
  const database = {
    run: (statement: object, values: { id?: string } = {}) =>
      statement === NEXT_PARTS ? Promise.resolve(ready) : continued(values.id),
  };
  const days = { spans: () => Promise.resolve([]), add: () => undefined };
  const add = vi.fn<(name: string, options: object, work: TaskWork) => void>();
  new DeliveryReplayer(
    { add } as unknown as BackgroundTasks,
    database as unknown as Database,
    days as unknown as PendingDays,
  );
  const [, , work] = add.mock.calls[0]!;
  const failure: unknown = await work(signal).catch((error: unknown) => error);
  return { continuedIds, failure };
}

it('continues other replays when one fails, and reports the failure', async () => {
  const { continuedIds, failure } = await run(new AbortController().signal);
  expect(continuedIds).toEqual(['a', 'c']);
  expect(failure).toBe(locked);
});

it('continues no replay once it is stopped', async () => {
  expect((await run(AbortSignal.abort())).continuedIds).toEqual([]);
});
