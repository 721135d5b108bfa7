import { beforeEach, expect, it } from 'vitest';
import { Pacer } from './pacer.js';

let now: number;
let pacer: Pacer;
beforeEach(() => {
  now = 0;
  pacer = new Pacer(4, 3, () => now);
});

/** Both parties begin something, so that neither is alone. */
function share(): void {
  pacer.delayOf('lone');
  pacer.delayOf('busy');
}

function delays(count: number): number[] {
  return Array.from({ length: count }, () => pacer.delayOf('busy'));
}

it('begins a burst at once, and further work at its pace', () => {
  share();
  expect(delays(5)).toEqual([0, 0, 4, 8, 12]);
});

it('does not delay another party', () => {
  share();
  delays(100);
  expect(pacer.delayOf('lone')).toBe(0);
});

it('allows a burst again after a break', () => {
  share();
  delays(10);
  now = 100;
  expect(delays(4)).toEqual([0, 0, 0, 4]);
});

it('never delays a party that has been alone for a second', () => {
  share();
  now = 1_000;
  expect(new Set(delays(100))).toEqual(new Set([0]));
});

it('does not count what a party began while it was alone', () => {
  delays(100);
  share();
  expect(pacer.delayOf('busy')).toBe(0);
});

it('delays a party as long with thousands of others', () => {
  share();
  delays(100);
  const [before = 0] = delays(1);
  for (let n = 0; n < 3_000; n += 1) pacer.delayOf(`other ${String(n)}`);
  expect(delays(1)).toEqual([before + 4]);
});
