import { Turns } from '#libs/kernel';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
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

describe('when there is work already', () => {
  /** @returns when the rounds of 10 ms begin, with one asked for at each of these times */
  async function hastened(...at: number[]): Promise<number[]> {
    const begun: number[] = [];
    const start = performance.now();
    const work = (): Promise<void> => {
      begun.push(performance.now() - start);
      return new Promise((resolve) => setTimeout(resolve, 10));
    };
    const rounds = new Rounds(work, { everyMs: 500, share: 0.1 });
    rounds.start();
    for (const time of at) setTimeout(() => rounds.soon(), time);
    await vi.advanceTimersByTimeAsync(700);
    const stopped = rounds.stop();
    await vi.advanceTimersByTimeAsync(10);
    await stopped;
    return begun;
  }

  it('comes at once, if the share of the time allows', async () => {
    // No timer is quicker than 1 ms.
    expect(await hastened(200)).toEqual([0, 201]);
    expect(await hastened(50)).toEqual([0, 100, 610]);
  });

  it('comes after the round that is under way', async () => {
    expect(await hastened(5)).toEqual([0, 100, 610]);
  });

  it('comes once, however often it is asked for', async () => {
    expect(await hastened(5, 6, 50, 60, 99)).toEqual([0, 100, 610]);
  });
});

it('does not count the wait for its turn as its time', async () => {
  const begun: number[] = [];
  const start = performance.now();
  const turns = new Turns({ atOnce: 1 });
  const rounds = new Rounds(
    () => {
      begun.push(performance.now() - start);
      return new Promise((resolve) => setTimeout(resolve, 10));
    },
    { everyMs: 100, share: 0.1, turns },
  );
  void turns.run(() => new Promise((resolve) => setTimeout(resolve, 1_000)));
  rounds.start();
  await vi.advanceTimersByTimeAsync(1_150);
  await rounds.stop();
  expect(begun).toEqual([1_000, 1_110]);
});

it('is not woken once it has ended', async () => {
  const work = vi.fn(() => Promise.resolve());
  const rounds = new Rounds(work, { everyMs: 500, share: 0.1 });
  rounds.start();
  await vi.advanceTimersByTimeAsync(100);
  await rounds.stop();
  rounds.soon();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(work).toHaveBeenCalledTimes(1);
});
