import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Refusals } from './problem.filter.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const waits = () => new AbortController().signal;

it('sends the first refusal of a party at once, then ten a second, each within five seconds', async () => {
  const refusals = new Refusals();
  let told = 0;
  const refuse = async () => {
    await refusals.throttle('flooding', waits);
    told += 1;
  };
  const all = Array.from({ length: 500 }, refuse);
  await vi.advanceTimersByTimeAsync(0);
  expect(told).toBe(1);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(told).toBe(11);
  await refusals.throttle('other', waits);
  let most = 0;
  for (let step = 0; step < 40; step += 1) {
    const before = told;
    await vi.advanceTimersByTimeAsync(100);
    most = Math.max(most, told - before);
  }
  expect(told).toBe(500);
  // Four hundred and fifty refusals exceed the longest wait, so they are spread over a second.
  expect(most).toBeLessThan(120);
  await Promise.all(all);
  await vi.advanceTimersByTimeAsync(5_000);
  await refusals.throttle('flooding', waits);
});

it('waits no longer than its client, and keeps nothing of one that has left', async () => {
  const refusals = new Refusals();
  const client = new AbortController();
  await refusals.throttle('flooding', () => client.signal);
  const waiting = refusals.throttle('flooding', () => client.signal);
  expect(vi.getTimerCount()).toBe(1);
  client.abort();
  await waiting;
  await refusals.throttle('flooding', () => client.signal);
  expect(vi.getTimerCount()).toBe(0);
});
