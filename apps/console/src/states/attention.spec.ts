import { expect, it } from 'vitest';
import type { Schemas } from '../app/api.js';
import { needingAttention, quietText } from './attention.js';

type Subscription = Schemas['Webhook'];

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

it('lists subscriptions that need attention, the longest first', () => {
  const failing = needingAttention([
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

it('leaves out subscriptions that the customer disabled', () => {
  const health = { state: 'failing', since: '2026-01-31T12:00:00.000Z' } as const;
  expect(needingAttention([aSubscription('1', { enabled: false, health })])).toEqual([]);
});

it.each<[Partial<Subscription>[], string, string]>([
  [[], 'neutral', 'No subscriptions'],
  [[{}], 'good', 'All subscriptions healthy'],
  [[{}, {}], 'good', 'All subscriptions healthy'],
  [[{ activity: { succeeded: 0, failed: 0 } }], 'neutral', 'All subscriptions untested'],
  [
    [{}, { activity: { succeeded: 0, failed: 0 } }, {}, { enabled: false }],
    'good',
    '2 healthy, 1 untested, 1 disabled',
  ],
])('sums up subscriptions that need no attention: %j', (all, tone, text) => {
  expect(quietText(all.map((fields) => aSubscription('1', fields)))).toEqual({ tone, text });
});
