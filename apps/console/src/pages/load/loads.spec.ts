import { expect, it } from 'vitest';
import { distinct, shareText } from './loads.js';

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

it.each([
  [0, '0%'],
  [0.000_4, '0.04%'],
  [0.031_4, '3.1%'],
  [0.314, '31%'],
  [1, '100%'],
])('shows the share %d as %s', (share, text) => {
  expect(shareText(share)).toBe(text);
});
