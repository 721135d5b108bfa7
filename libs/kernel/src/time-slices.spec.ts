import { setImmediate as nextLoop } from 'node:timers/promises';
import { beforeEach, expect, it } from 'vitest';
import { atOnce, type Steps, TimeSlices } from './time-slices.js';

let now: number;
let slices: TimeSlices;
/** What was done, with a comma at the end of each iteration of the event loop. The first slice begins before its first. */
let done: string;

beforeEach(() => {
  now = 0;
  slices = new TimeSlices(() => now);
  done = '';
});

/** Work of so many steps, each of which takes a quarter of a slice. */
function* work(name: string, steps: number): Steps<string> {
  for (let step = 0; step < steps; step += 1) {
    now += 0.125;
    done += name;
    yield;
  }
  return name;
}

const run = (name: string, steps: number) => slices.run(name, work(name, steps));

async function finished(...all: Promise<string>[]): Promise<string> {
  const state = { isOver: false };
  const results = Promise.all(all).finally(() => {
    state.isOver = true;
  });
  while (!state.isOver) {
    await nextLoop();
    done += ',';
  }
  await results;
  return done.replaceAll(/,+/g, ',');
}

it('does at once what fits into a slice', async () => {
  expect(await run('a', 3)).toBe('a');
  expect(done).toBe('aaa');
});

it('gives all parties together one slice of each iteration of the event loop, round-robin', async () => {
  const all = [run('a', 10), run('b', 6), run('c', 1)];
  expect(await finished(...all)).toBe('aaaaaaaa,bbbb,caab,b,');
});

it('does the work of a party in its order', async () => {
  const order: number[] = [];
  const first = run('a', 9).then(() => order.push(1));
  const second = run('a', 1).then(() => order.push(2));
  await Promise.all([first, second]);
  expect(order).toEqual([1, 2]);
});

it('counts short pieces of work together', async () => {
  const all = [run('a', 2), run('b', 2), run('c', 2)];
  expect(await finished(...all)).toBe('aabbcc,');
});

it('rejects what fails, and goes on with the rest', async () => {
  function* failing(steps: number): Steps<string> {
    yield* work('f', steps);
    throw new Error('failed');
  }
  await expect(slices.run('f', failing(1))).rejects.toThrow('failed');
  const long = slices.run('f', failing(8));
  const rest = run('a', 1);
  await expect(long).rejects.toThrow('failed');
  await expect(rest).resolves.toBe('a');
});

it('runs work to its end at once for those who know that it is short', () => {
  expect(atOnce(work('a', 8))).toBe('a');
});
