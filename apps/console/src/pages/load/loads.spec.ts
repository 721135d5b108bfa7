import { expect, it } from 'vitest';
import { countedSince, distinct, shareText } from './loads.js';

const load = (accountId: number, reported: number) => ({ accountId, reported }) as never;

it('lists an account once that is on two pages', () => {
  const pages = [{ rows: [load(1, 9), load(2, 8)] }, { rows: [load(2, 7), load(3, 6)] }];
  expect(distinct({ pages, pageParams: [] }).pages).toEqual([
    {
      rows: [
        { id: 1, accountId: 1, reported: 9 },
        { id: 2, accountId: 2, reported: 8 },
      ],
    },
    { rows: [{ id: 3, accountId: 3, reported: 6 }] },
  ]);
});

it('counts since the full hour in which the range begins', () => {
  const now = Date.parse('2026-11-27T17:46:31Z');
  expect(countedSince('hour', now)).toBe('2026-11-27T16:00:00.000Z');
  expect(countedSince('week', now)).toBe('2026-11-20T17:00:00.000Z');
});

it.each([
  [0, '0%'],
  [0.000_4, '0.04%'],
  [0.031_4, '3.1%'],
  [0.314, '31%'],
  [1, '100%'],
])('shows the share %d as %s', (share, text) => {
  expect(shareText(share)).toBe(text);
});
