import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Rounds } from './rounds.js';

beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => vi.useRealTimers());

/** @returns when each round of `tookMs` began, in ms, within a minute */
async function beginnings(tookMs: number, everyMs = 500): Promise<number[]> {
  const begun: number[] = [];
  const start = performance.now();
  const work = (): Promise<void> => {
    begun.push(performance.now() - start);
    return new Promise((resolve) => setTimeout(resolve, tookMs));
  };
  const rounds = new Rounds(work, { everyMs, share: 0.1 });
  rounds.start();
  await vi.advanceTimersByTimeAsync(60_000);
  const stopped = rounds.stop();
  await vi.advanceTimersByTimeAsync(tookMs);
  await stopped;
  return begun;
}

it('pauses between rounds, the longer the more of the time they take', async () => {
  expect((await beginnings(10)).slice(0, 3)).toEqual([0, 510, 1_020]);
  expect((await beginnings(200)).slice(0, 3)).toEqual([0, 2_000, 4_000]);
});

it('comes again after 5 s at the latest, however long a round took', async () => {
  expect(await beginnings(10_000)).toEqual([0, 15_000, 30_000, 45_000, 60_000]);
});

it('comes as seldom as it is to', async () => {
  expect(await beginnings(10, 29_990)).toEqual([0, 30_000, 60_000]);
});

it('ends after the round that is under way', async () => {
  const begun = await beginnings(100);
  const { length } = begun;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(begun).toHaveLength(length);
});
