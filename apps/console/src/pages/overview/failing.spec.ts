import { expect, it } from 'vitest';
import { failingOf } from './failing.js';
import type { Subscription } from './subscriptions.queries.js';

const aSubscription = (id: string, fields: Partial<Subscription> = {}): Subscription => ({
  href: `https://api.example.com/v1/webhooks/${id}`,
  id,
  accountId: 1,
  event: 'cdrCreated',
  resource: 'all',
  targetUrl: 'https://target.example/',
  enabled: true,
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
  ...fields,
});

it('lists failing subscriptions, the longest failing first', () => {
  const failing = failingOf([
    aSubscription('1', { health: { state: 'ok' } }),
    aSubscription('2', { health: { state: 'failing', since: '2026-01-31T12:00:00.000Z' } }),
    aSubscription('3', {
      health: {
        state: 'open',
        since: '2026-01-30T12:00:00.000Z',
        until: '2026-01-31T12:30:00.000Z',
        disablesAt: '2026-02-04T12:00:00.000Z',
      },
    }),
    aSubscription('4', {
      enabled: false,
      disabledReason: 'gone',
      disabledAt: '2026-01-31T11:00:00.000Z',
    }),
    aSubscription('5'),
  ]);
  expect(failing.map(({ id }) => id)).toEqual(['3', '4', '2']);
});

it('leaves out subscriptions that the customer switched off', () => {
  const health = { state: 'failing', since: '2026-01-31T12:00:00.000Z' } as const;
  expect(failingOf([aSubscription('1', { enabled: false, health })])).toEqual([]);
});
