import { describe, expect, it } from 'vitest';
import type { Delivery, DeliveryList } from './deliveries.queries.js';
import { arrivalsOf, hasUnfinishedOf, patched, prepended } from './live-list.js';

const aDelivery = (number: number, fields: Partial<Delivery> = {}): Delivery => ({
  id: `019a0b1c-0000-7000-8000-00000000000${number}`,
  href: 'http://api.example/v1/deliveries/1',
  eventId: '019a0b1c-0000-7000-8000-0000000000ff',
  webhookId: '7',
  event: 'cdrCreated',
  resource: 'call',
  targetUrl: 'https://target.example/',
  state: 'pending',
  attempts: 0,
  createdAt: `2026-11-25T12:00:0${number}.000Z`,
  test: false,
  ...fields,
});

const aList = (...pages: Delivery[][]): DeliveryList => ({
  pages: pages.map((rows) => ({ rows, next: undefined })),
  pageParams: pages.map(() => ({})),
});

const idsOf = (list: DeliveryList) => list.pages.map(({ rows }) => rows.map(({ id }) => id.at(-1)));

it('changes deliveries in place, and keeps other pages unchanged', () => {
  const list = aList([aDelivery(3), aDelivery(2)], [aDelivery(1)]);
  const changed = aDelivery(2, { state: 'succeeded' });
  const next = patched(list, new Map([[changed.id, changed]]));
  expect(next.pages[0]?.rows[1]?.state).toBe('succeeded');
  expect(next.pages[1]).toBe(list.pages[1]);
});

it('puts arrivals before the first page', () => {
  const list = aList([aDelivery(2)], [aDelivery(1)]);
  expect(idsOf(prepended(list, [aDelivery(4), aDelivery(3)]))).toEqual([['4', '3', '2'], ['1']]);
});

it('knows whether deliveries of a subscription may still change', () => {
  const list = aList([
    aDelivery(3, { state: 'parked' }),
    aDelivery(2, { state: 'succeeded', webhookId: '8' }),
  ]);
  expect([hasUnfinishedOf(list, '7'), hasUnfinishedOf(list, '8')]).toEqual([true, false]);
});

describe('an arrival', () => {
  const list = aList([aDelivery(2)]);
  const arrivals = (changes: Delivery[], filters = {}) =>
    arrivalsOf(list, changes, filters).map(({ id }) => id.at(-1));

  it('is neither in the list nor older than the list', () => {
    const changes = [aDelivery(1), aDelivery(2), aDelivery(4), aDelivery(3)];
    expect(arrivals(changes)).toEqual(['4', '3']);
  });

  it.each([
    [{ state: 'pending' }, ['3']],
    [{ state: 'exhausted' }, []],
    [{ webhookId: '7', event: 'cdrCreated' }, ['3']],
    [{ applicationId: '7' }, []],
    [{ since: '2026-11-25T12:00:03Z' }, ['3']],
    [{ until: '2026-11-25T12:00:03Z' }, []],
    [{ status: '2xx' }, []],
  ])('matches the filters %j', (filters, expected) => {
    expect(arrivals([aDelivery(3)], filters)).toEqual(expected);
  });
});
