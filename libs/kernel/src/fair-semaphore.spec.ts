import { afterEach, expect, it, vi } from 'vitest';
import { FairSemaphore } from './fair-semaphore.js';

const refusal = () => new Error('too many');

afterEach(() => {
  vi.useRealTimers();
});

function heldWork() {
  let release = (): void => undefined;
  const started: boolean[] = [];
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const work = async () => {
    started.push(true);
    await gate;
  };
  return { work, started, release: () => release() };
}

it('runs no more work at once than its limit, and runs all of it in the end', async () => {
  const semaphore = new FairSemaphore({ atOnce: 2, waitingOfOne: 10 }, refusal);
  const held = heldWork();
  const all = Array.from({ length: 5 }, () => semaphore.run(held.work));
  await Promise.resolve();
  expect(held.started).toHaveLength(2);
  held.release();
  await Promise.all(all);
  expect(held.started).toHaveLength(5);
});

it('refuses work when too much is waiting, and accepts more once there is room', async () => {
  const semaphore = new FairSemaphore({ atOnce: 1, waitingOfOne: 1 }, refusal);
  const held = heldWork();
  const all = [semaphore.run(held.work), semaphore.run(held.work)];
  await expect(semaphore.run(held.work)).rejects.toThrow('too many');
  held.release();
  await Promise.all(all);
  expect(await semaphore.run(() => Promise.resolve('done'))).toBe('done');
});

it('runs the next work after one has failed', async () => {
  const semaphore = new FairSemaphore({ atOnce: 1, waitingOfOne: 1 }, refusal);
  const failing = semaphore.run(() => Promise.reject(new Error('no')));
  const after = semaphore.run(() => Promise.resolve('done'));
  await expect(failing).rejects.toThrow('no');
  expect(await after).toBe('done');
});

it('rejects work that has waited too long, and still runs the rest', async () => {
  vi.useFakeTimers();
  const semaphore = new FairSemaphore({ atOnce: 1, waitMs: 1_000 }, refusal);
  const held = heldWork();
  const first = semaphore.run(held.work);
  const late = expect(semaphore.run(held.work)).rejects.toThrow('too many');
  await vi.advanceTimersByTimeAsync(999);
  const last = semaphore.run(() => Promise.resolve('done'));
  await vi.advanceTimersByTimeAsync(1);
  await late;
  held.release();
  await first;
  expect(await last).toBe('done');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(held.started).toHaveLength(1);
});

it('removes work from the queue whose signal is aborted, and runs the rest', async () => {
  const semaphore = new FairSemaphore({ atOnce: 1, waitingOfOne: 1, waitMs: 60_000 }, refusal);
  const held = heldWork();
  const first = semaphore.run(held.work);
  const left = new AbortController();
  const waiting = semaphore.run(held.work, '', left.signal);
  left.abort(new Error('left'));
  await expect(waiting).rejects.toThrow('left');
  const next = semaphore.run(() => Promise.resolve('done'));
  await expect(semaphore.run(held.work, '', left.signal)).rejects.toThrow('left');
  held.release();
  await first;
  expect(await next).toBe('done');
  expect(held.started).toHaveLength(1);
});

it('alternates between parties, and keeps the order within each', async () => {
  const semaphore = new FairSemaphore({ atOnce: 1 }, refusal);
  const held = heldWork();
  const first = semaphore.run(held.work, 'many');
  const order: string[] = [];
  const later = ['many 1', 'many 2', 'many 3', 'one 1', 'two 1', 'two 2'].map((name) =>
    semaphore.run(() => Promise.resolve(void order.push(name)), name.split(' ')[0]),
  );
  held.release();
  await Promise.all([first, ...later]);
  expect(order).toEqual(['many 1', 'one 1', 'two 1', 'many 2', 'two 2', 'many 3']);
});

it('runs no more work of one party than its limit, and leaves the other slots to others', async () => {
  const semaphore = new FairSemaphore({ atOnce: 3, atOnceOfOne: 2 }, refusal);
  const held = heldWork();
  const many = Array.from({ length: 5 }, () => semaphore.run(held.work, 'many'));
  await Promise.resolve();
  expect(held.started).toHaveLength(2);
  expect(await semaphore.run(() => Promise.resolve('done'), 'other')).toBe('done');
  held.release();
  await Promise.all(many);
  expect(held.started).toHaveLength(5);
});

it('limits the waiting work of each party separately', async () => {
  const semaphore = new FairSemaphore({ atOnce: 1, waitingOfOne: 1 }, refusal);
  const held = heldWork();
  const all = [semaphore.run(held.work, 'many'), semaphore.run(held.work, 'many')];
  await expect(semaphore.run(held.work, 'many')).rejects.toThrow('too many');
  const other = semaphore.run(() => Promise.resolve('done'), 'other');
  held.release();
  await Promise.all(all);
  expect(await other).toBe('done');
});

it('pauses a party for longer the more work it has waiting, and runs others meanwhile', async () => {
  vi.useFakeTimers();
  const semaphore = new FairSemaphore({ atOnce: 1, atOnceOfOne: 1, maxPauses: 2 }, refusal);
  const began: string[] = [];
  const work = (name: string) => async () => {
    began.push(name);
    await new Promise((resolve) => setTimeout(resolve, 100));
  };
  const names = ['many', 'many', 'many', 'many', 'other'];
  const all = names.map((name) => semaphore.run(work(name), name));
  const hasBegun = async (ms: number, ...names: string[]) => {
    await vi.advanceTimersByTimeAsync(ms - 1);
    expect(began).toHaveLength(0);
    await vi.advanceTimersByTimeAsync(1);
    expect(began.splice(0)).toEqual(names);
  };
  expect(began.splice(0)).toEqual(['many']);
  await hasBegun(100, 'other');
  // Three are waiting, but two pauses are the limit; then two, then one.
  await hasBegun(200, 'many');
  await hasBegun(300, 'many');
  await hasBegun(200, 'many');
  await vi.advanceTimersByTimeAsync(100);
  await Promise.all(all);
  // Nothing is waiting, so the party does not pause.
  void semaphore.run(work('many'), 'many');
  expect(began).toHaveLength(1);
});

it('does not pause with a small backlog, and pauses long with a great one', async () => {
  vi.useFakeTimers();
  const limits = { atOnce: 1, atOnceOfOne: 1, maxPauses: 9, unpaused: 16 };
  /** How long work of 100 ms pauses while so much more is waiting. */
  const pauseMs = async (waiting: number) => {
    const semaphore = new FairSemaphore(limits);
    const began: number[] = [];
    const all = Array.from({ length: waiting + 1 }, () =>
      semaphore.run(async () => {
        began.push(performance.now());
        await new Promise((resolve) => setTimeout(resolve, 100));
      }),
    );
    await vi.advanceTimersByTimeAsync(1_100);
    const [first, second] = began;
    await vi.runAllTimersAsync();
    await Promise.all(all);
    return second! - first! - 100;
  };
  expect(await pauseMs(16)).toBeCloseTo(0, 0);
  expect(await pauseMs(17)).toBeCloseTo(100, 0);
  expect(await pauseMs(199)).toBeCloseTo(900, 0);
});

it('pauses for at most two seconds, however long the work took', async () => {
  vi.useFakeTimers();
  const semaphore = new FairSemaphore({ atOnce: 1, atOnceOfOne: 1, maxPauses: 9 }, refusal);
  const began: string[] = [];
  const work = () => {
    began.push('work');
    return new Promise((resolve) => setTimeout(resolve, 10_000));
  };
  const all = [semaphore.run(work), semaphore.run(work)];
  await vi.advanceTimersByTimeAsync(11_999);
  expect(began).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(began).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(10_000);
  await Promise.all(all);
});
