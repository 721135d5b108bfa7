import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Database, Processes } from '#libs/runtime';
import type { BullDeliveryQueue } from '../queue/bull-delivery.queue.js';
import { Overview, SharedRead } from './overview.js';
import { LIST_PARTITION_SIZES } from './overview.statements.js';

/** Reads of the processes, one for each time that the overview is read; each waits until it is ended. */
let reads: { end: () => void; fail: () => void }[];
let overview: Overview;
const run = vi.fn(() => Promise.resolve([]));

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  reads = [];
  const list = () =>
    new Promise((resolve, reject) => {
      reads.push({ end: () => resolve([]), fail: () => reject(new Error('away')) });
    });
  overview = new Overview(
    { run } as unknown as Database,
    { list } as unknown as Processes,
    { jobsByShard: () => Promise.resolve([]) } as unknown as BullDeliveryQueue,
  );
});
afterEach(() => {
  vi.useRealTimers();
});

it('is read once at a time, however long that takes, and again two seconds later', async () => {
  const first = overview.show();
  await vi.waitFor(() => expect(reads).toHaveLength(1));
  vi.advanceTimersByTime(10_000);
  const second = overview.show();
  await new Promise((resolve) => setImmediate(resolve));
  expect(reads).toHaveLength(1);
  reads[0]!.end();
  expect(await second).toBe(await first);
  vi.advanceTimersByTime(2_000);
  expect(await overview.show()).toBe(await first);
  vi.advanceTimersByTime(1);
  const third = overview.show();
  await vi.waitFor(() => expect(reads).toHaveLength(2));
  reads[1]!.end();
  expect(await third).not.toBe(await first);
});

it('is read again at once after a failure', async () => {
  const failed = overview.show();
  await vi.waitFor(() => expect(reads).toHaveLength(1));
  reads[0]!.fail();
  await expect(failed).rejects.toThrow('away');
  const next = overview.show();
  await vi.waitFor(() => expect(reads).toHaveLength(2));
  reads[1]!.end();
  expect(await next).toMatchObject({ pending: 0 });
});

it('reads how large the partitions are once a minute at the most', async () => {
  run.mockClear();
  const readAgain = async () => {
    const state = overview.show();
    await vi.waitFor(() => expect(reads).toHaveLength(1));
    reads.pop()!.end();
    await state;
    return run.mock.calls.filter(([of]: unknown[]) => of === LIST_PARTITION_SIZES).length;
  };
  expect(await readAgain()).toBe(1);
  vi.advanceTimersByTime(30_000);
  expect(await readAgain()).toBe(1);
  vi.advanceTimersByTime(30_001);
  expect(await readAgain()).toBe(2);
});

const broken = (): never => {
  throw new Error('broken');
};

it.each([
  ['rejects', () => Promise.reject(new Error('broken'))],
  ['throws', broken],
])('reads again after a read that %s, also when there was a result before', async (_how, fail) => {
  const reads = [() => Promise.resolve(1), fail, () => Promise.resolve(2)];
  const shared = new SharedRead(-1, () => reads.shift()!());
  expect(await shared.get()).toBe(1);
  await expect(shared.get()).rejects.toThrow('broken');
  expect(await shared.get()).toBe(2);
});
