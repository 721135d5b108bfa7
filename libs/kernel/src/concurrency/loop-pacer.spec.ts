import { setImmediate as nextLoopTurn } from 'node:timers/promises';
import { beforeEach, expect, it } from 'vitest';
import { LoopPacer } from './loop-pacer.js';

let now: number;
let pacer: LoopPacer;
beforeEach(() => {
  now = 0;
  pacer = new LoopPacer(() => now);
});

/** Two parties have had work. */
async function share(): Promise<void> {
  await Promise.all([pacer.next('busy'), pacer.next('lone')]);
}

/** Begins work for some parties at the same time. @returns for whom it began, by turn of the loop */
async function begin(parties: readonly string[]): Promise<string[]> {
  const began: string[] = [];
  const all = parties.map(async (party) => {
    await pacer.next(party);
    began.push(party);
  });
  const byTurn: string[] = [];
  for (let seen = 0; seen < parties.length; seen = began.length) {
    await nextLoopTurn();
    byTurn.push(began.slice(seen).join(' '));
  }
  await Promise.all(all);
  return byTurn.filter((turn) => turn !== '');
}

it('begins few pieces of work in each turn of the event loop, for parties in turn', async () => {
  await share();
  const parties = ['busy', 'busy', 'busy', 'busy', 'lone'];
  expect(await begin(parties)).toEqual(['busy lone', 'busy busy', 'busy']);
});

it('begins everything at once for a party that is alone, a second after the last other', async () => {
  expect(await begin(['busy', 'busy', 'busy'])).toEqual(['busy busy busy']);
  await share();
  await pacer.next('busy');
  now = 999;
  expect(await begin(['busy', 'busy', 'busy'])).toEqual(['busy busy', 'busy']);
  now = 1_000;
  expect(await begin(['busy', 'busy', 'busy'])).toEqual(['busy busy busy']);
});

it('rests until nothing waits for its turn', async () => {
  await pacer.rest();
  await share();
  const order: string[] = [];
  await Promise.all([
    pacer.next('one').then(() => order.push('first')),
    pacer.rest().then(() => order.push('rested')),
    pacer.next('one').then(() => order.push('second')),
    pacer.next('one').then(() => order.push('third')),
  ]);
  expect(order).toEqual(['first', 'second', 'third', 'rested']);
});

it('rests no longer when a hundred do', async () => {
  await share();
  let isWaiting = true;
  const last = Promise.all(Array.from({ length: 1_000 }, () => pacer.next('one'))).then(() => {
    isWaiting = false;
  });
  await Promise.all(Array.from({ length: 100 }, () => pacer.rest()));
  expect(isWaiting).toBe(true);
  await last;
});
