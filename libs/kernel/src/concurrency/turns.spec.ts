import { afterEach, expect, it, vi } from 'vitest';
import { Turns } from './turns.js';

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

it('runs no more than its bound at once, and everything in the end', async () => {
  const turns = new Turns({ atOnce: 2, waiting: 10 });
  const held = heldWork();
  const all = Array.from({ length: 5 }, () => turns.run(held.work, refusal));
  await Promise.resolve();
  expect(held.started).toHaveLength(2);
  held.release();
  await Promise.all(all);
  expect(held.started).toHaveLength(5);
});

it('refuses when too many wait, and takes more once there is room', async () => {
  const turns = new Turns({ atOnce: 1, waiting: 1 });
  const held = heldWork();
  const all = [turns.run(held.work, refusal), turns.run(held.work, refusal)];
  await expect(turns.run(held.work, refusal)).rejects.toThrow('too many');
  held.release();
  await Promise.all(all);
  expect(await turns.run(() => Promise.resolve('done'), refusal)).toBe('done');
});

it('goes on after work that failed', async () => {
  const turns = new Turns({ atOnce: 1, waiting: 1 });
  const failing = turns.run(() => Promise.reject(new Error('no')), refusal);
  const after = turns.run(() => Promise.resolve('done'), refusal);
  await expect(failing).rejects.toThrow('no');
  expect(await after).toBe('done');
});

it('refuses what has waited too long, and goes on with the others', async () => {
  vi.useFakeTimers();
  const turns = new Turns({ atOnce: 1, waitMs: 1_000 });
  const held = heldWork();
  const first = turns.run(held.work, refusal);
  const late = expect(turns.run(held.work, refusal)).rejects.toThrow('too many');
  await vi.advanceTimersByTimeAsync(999);
  const last = turns.run(() => Promise.resolve('done'), refusal);
  await vi.advanceTimersByTimeAsync(1);
  await late;
  held.release();
  await first;
  expect(await last).toBe('done');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(held.started).toHaveLength(1);
});
