import { expect, it } from 'vitest';
import { byDay, dayOf, withinDays } from './partition-days.js';

const DAY = 20_779; // 2026-11-22

it('derives the day of an id from its first 48 bits', () => {
  expect(dayOf('019aa8b4-0000-7000-8000-000000000000')).toBe(20_413);
  const midnight = DAY * 86_400_000;
  const idAt = (ms: number) => {
    const hex = ms.toString(16).padStart(12, '0');
    return `${hex.slice(0, 8)}-${hex.slice(8)}-7abc-8000-000000000001`;
  };
  expect(dayOf(idAt(midnight))).toBe(DAY);
  expect(dayOf(idAt(midnight - 1))).toBe(DAY - 1);
});

it('bounds an id with literals, so that the planner can prune partitions', () => {
  expect(withinDays('d.id', DAY)).toBe(
    `(d.id >= '${hexOf(DAY)}'::uuid AND d.id < '${hexOf(DAY + 1)}'::uuid)`,
  );
  expect(withinDays('d.id', DAY, DAY + 2)).toContain(hexOf(DAY + 3));
});

it('groups items by the day of their id', () => {
  const ids = ['019aa8b4-0000-7000-8000-000000000000', '019ab000-0000-7000-8000-000000000000'];
  const another = '019aa8b4-0000-7000-8000-000000000001';
  expect([...byDay([...ids, another], (id) => id).values()]).toEqual([[ids[0], another], [ids[1]]]);
});

function hexOf(day: number): string {
  const hex = (day * 86_400_000).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}
