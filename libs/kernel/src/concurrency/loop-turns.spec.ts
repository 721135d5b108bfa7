import { setImmediate as nextLoopTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { LoopTurns } from './loop-turns.js';

/** Begins work for some parties at the same time. @returns for whom it began, by turn of the loop */
async function turnsOf(turns: LoopTurns, parties: readonly string[]): Promise<string[]> {
  const began: string[] = [];
  const all = parties.map(async (party) => {
    await turns.next(party);
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

it('begins one piece of work in each turn of the event loop', async () => {
  expect(await turnsOf(new LoopTurns(), ['one', 'one', 'one'])).toEqual(['one', 'one', 'one']);
});

it('lets parties take turns, however much one of them has', async () => {
  const parties = ['busy', 'busy', 'busy', 'busy', 'lone'];
  expect(await turnsOf(new LoopTurns(), parties)).toEqual(['busy', 'lone', 'busy', 'busy', 'busy']);
});

it('rests until nothing waits for its turn', async () => {
  const turns = new LoopTurns();
  await turns.rest();
  const order: string[] = [];
  const all = [
    turns.next('one').then(() => order.push('first')),
    turns.next('one').then(() => order.push('second')),
    turns.rest().then(() => order.push('rested')),
  ];
  await Promise.all(all);
  expect(order).toEqual(['first', 'second', 'rested']);
});

it('rests no longer when a hundred do', async () => {
  const turns = new LoopTurns();
  let isWaiting = true;
  const last = Promise.all(Array.from({ length: 1_000 }, () => turns.next('one'))).then(() => {
    isWaiting = false;
  });
  await Promise.all(Array.from({ length: 100 }, () => turns.rest()));
  expect(isWaiting).toBe(true);
  await last;
});
