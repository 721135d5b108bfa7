import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Run } from '#libs/runtime';
import {
  byDay,
  dayAt,
  dayOf,
  daysListed,
  newestFirst,
  oldestFirst,
  type Span,
  spansOf,
  withinDays,
} from './partition-days.js';

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

it('bounds the latest id that a client can send', () => {
  expect(withinDays('id', dayOf('ffffffff-ffff-ffff-ffff-ffffffffffff'))).toContain(
    "< 'ffffffff-ffff-0000-0000-000000000000'::uuid",
  );
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

const TODAY = 20_779; // 2026-11-22
const OLDEST = TODAY - 50;
const DAYS = 20;

let asked = 0;
const run = (() => {
  asked += 1;
  return Promise.resolve([{ day: TODAY + 7 }, { day: OLDEST }]);
}) as unknown as Run;

beforeEach(() => {
  asked = 0;
  vi.useFakeTimers({ now: (TODAY + 0.5) * 86_400_000 });
});
afterEach(() => vi.useRealTimers());

async function walked(range: Partial<Span>): Promise<Span[]> {
  const spans: Span[] = [];
  for await (const span of newestFirst(run, 'deliveries', DAYS, { ...daysListed({}), ...range }))
    spans.push(span);
  return spans;
}

it('walks from an open-ended span of the newest days to the oldest day', async () => {
  const spans = await walked({});
  expect(spans[0]!.last).toBeGreaterThan(TODAY + 100_000);
  expect(spans[0]!.first).toBe(TODAY - 1);
  expect(spans.slice(1)).toEqual([
    { first: TODAY - 1 - DAYS, last: TODAY - 2 },
    { first: TODAY - 1 - 2 * DAYS, last: TODAY - 2 - DAYS },
    { first: OLDEST, last: TODAY - 2 - 2 * DAYS },
  ]);
});

it('stays within a range, and queries the oldest day only after the first span', async () => {
  const last = TODAY - 5;
  expect(await walked({ first: last, last })).toEqual([{ first: last, last }]);
  expect(await walked({ first: last - 1, last })).toEqual([{ first: last - 1, last }]);
  expect(await walked({ first: TODAY, last })).toEqual([]);
  expect(asked).toBe(0);
  expect(await walked({ first: TODAY - 27, last })).toEqual([
    { first: last - 1, last },
    { first: last - 1 - DAYS, last: last - 2 },
    { first: TODAY - 27, last: TODAY - 27 },
  ]);
  expect(await walked({ first: 0, last })).toHaveLength(4);
});

it('limits a page to its days, and to days that an id can express', () => {
  const all = daysListed({});
  const since = new Date((TODAY - 9) * 86_400_000);
  const until = new Date(TODAY * 86_400_000);
  const after = '019aa8b4-0000-7000-8000-000000000000';
  expect(daysListed({ since, until })).toEqual({ first: TODAY - 9, last: TODAY });
  expect(daysListed({ until }, after)).toEqual({ first: 0, last: 20_413 });
  expect(daysListed({}, 'ffffffff-ffff-7fff-bfff-ffffffffffff')).toEqual(all);
  expect(dayAt(new Date(8.64e15))).toBe(all.last);
  expect(dayAt(new Date(-1))).toBe(0);
});

it('splits a range into spans, oldest first', () => {
  expect(oldestFirst({ first: 30, last: 50 }, 20)).toEqual([
    { first: 30, last: 49 },
    { first: 50, last: 50 },
  ]);
  expect(oldestFirst({ first: 3, last: 2 }, 20)).toEqual([]);
});

it('combines nearby days into spans', () => {
  expect(spansOf([50, 49, 40, 31, 30], 20)).toEqual([
    { first: 31, last: 50 },
    { first: 30, last: 30 },
  ]);
});
