import { expect, it } from 'vitest';
import { cachedIfSlow } from './delivery-metrics.js';

it('reads a large backlog at most a twentieth of the time, however often it is scraped', async () => {
  let nowMs = 0;
  let reads = 0;
  const read = () => {
    nowMs += 1_000;
    reads += 1;
    return Promise.resolve(reads);
  };
  const gauge = cachedIfSlow(read, () => nowMs);
  expect(await gauge()).toBe(1);
  nowMs += 18_000;
  expect(await gauge()).toBe(1);
  nowMs += 1_000;
  expect(await gauge()).toBe(2);
});

it('reads a small backlog at each scrape', async () => {
  let reads = 0;
  const gauge = cachedIfSlow(() => Promise.resolve((reads += 1)));
  expect([await gauge(), await gauge()]).toEqual([1, 2]);
});

it('reads again after a failure', async () => {
  const results = [() => Promise.reject(new Error('no database')), () => Promise.resolve(7)];
  const gauge = cachedIfSlow(() => results.shift()!());
  await expect(gauge()).rejects.toThrow('no database');
  expect(await gauge()).toBe(7);
});
