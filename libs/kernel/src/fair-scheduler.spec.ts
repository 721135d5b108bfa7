import { setImmediate as nextLoop } from 'node:timers/promises';
import { beforeEach, expect, it } from 'vitest';
import { FairScheduler } from './fair-scheduler.js';

let now: number;
let scheduler: FairScheduler;
beforeEach(() => {
  now = 0;
  scheduler = new FairScheduler(() => now);
});

/** Gives work to two parties, so that neither is alone. */
async function share(): Promise<void> {
  await Promise.all([scheduler.next('busy'), scheduler.next('lone')]);
}

/** Requests work for some parties at the same time. @returns the parties that began in each loop iteration */
async function begin(parties: readonly string[]): Promise<string[]> {
  const began: string[] = [];
  const all = parties.map(async (party) => {
    await scheduler.next(party);
    began.push(party);
  });
  const byLoop: string[] = [];
  for (let seen = 0; seen < parties.length; seen = began.length) {
    await nextLoop();
    byLoop.push(began.slice(seen).join(' '));
  }
  await Promise.all(all);
  return byLoop.filter((names) => names !== '');
}

it('begins two pieces of work in each event loop iteration, alternating between parties', async () => {
  await share();
  const parties = ['busy', 'busy', 'busy', 'busy', 'lone'];
  expect(await begin(parties)).toEqual(['busy lone', 'busy busy', 'busy']);
});

it('begins all work at once when no other party has had work for a second', async () => {
  expect(await begin(['busy', 'busy', 'busy'])).toEqual(['busy busy busy']);
  await share();
  await scheduler.next('busy');
  now = 999;
  expect(await begin(['busy', 'busy', 'busy'])).toEqual(['busy busy', 'busy']);
  now = 1_000;
  expect(await begin(['busy', 'busy', 'busy'])).toEqual(['busy busy busy']);
});

it('ends a rest when no work is waiting', async () => {
  await scheduler.rest();
  await share();
  const order: string[] = [];
  await Promise.all([
    scheduler.next('one').then(() => order.push('first')),
    scheduler.rest().then(() => order.push('rested')),
    scheduler.next('one').then(() => order.push('second')),
    scheduler.next('one').then(() => order.push('third')),
  ]);
  expect(order).toEqual(['first', 'second', 'third', 'rested']);
});

it('ends all rests when a hundred callers are resting', async () => {
  await share();
  let isWaiting = true;
  const last = Promise.all(Array.from({ length: 1_000 }, () => scheduler.next('one'))).then(() => {
    isWaiting = false;
  });
  await Promise.all(Array.from({ length: 100 }, () => scheduler.rest()));
  expect(isWaiting).toBe(true);
  await last;
});
