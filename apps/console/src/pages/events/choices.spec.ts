import { expect, it } from 'vitest';
import { choicesOf } from './choices.js';

const TIME = '2026-01-31T12:00:00.000Z';

const anEvent = (id: string, fields: Partial<Parameters<typeof choicesOf>[0][number]> = {}) => ({
  ...({ id, href: '', event: 'cdrCreated', resource: 'call', accountId: 1 } as const),
  ...{ occurredAt: TIME, createdAt: TIME, ...fields },
});

const aSubscription = (
  id: string,
  fields: Partial<Parameters<typeof choicesOf>[1][number]> = {},
) => ({
  ...({ id, href: '', accountId: 1, event: 'cdrCreated', resource: 'all', enabled: true } as const),
  ...{ targetUrl: 'https://target.example/', createdAt: TIME, updatedAt: TIME, ...fields },
});

it('offers first the subscription that gets most of the events, and sends the oldest event first', () => {
  const events = [anEvent('3', { applicationId: '10' }), anEvent('2'), anEvent('1')];
  const found = choicesOf(events, [
    aSubscription('a', { applicationId: '10' }),
    aSubscription('b'),
    aSubscription('c', { event: 'smsdlr' }),
    aSubscription('d', { enabled: false }),
  ]);
  expect(found.map(({ subscription, ids }) => [subscription.id, ids])).toEqual([
    ['b', ['1', '2', '3']],
    ['a', ['3']],
  ]);
});
