import { describe, expect, it } from 'vitest';
import type { Subscription } from '../../app/names.queries.js';
import { groupsOf, whyNotOf } from './why-not.js';

const aSubscription = (id: string, fields: Partial<Subscription> = {}): Subscription => ({
  href: `https://api.example.com/v1/webhooks/${id}`,
  id,
  accountId: 1,
  event: 'cdrCreated',
  resource: 'all',
  targetUrl: 'https://target.example/',
  enabled: true,
  createdAt: '2026-01-31T12:01:00.000Z',
  updatedAt: '2026-01-31T12:02:00.000Z',
  ...fields,
});

const ofAccount: Parameters<typeof whyNotOf>[0] = {
  event: 'cdrCreated',
  resource: 'call',
  createdAt: '2026-01-31T12:00:00.000Z',
  deliveries: [],
  unmatched: [],
};
const event = { ...ofAccount, applicationId: '10' };

describe('a reason', () => {
  it.each([
    ['created_later', {}, 'created', '2026-01-31T12:01:00.000Z'],
    ['disabled', { enabled: false }, undefined, undefined],
    [
      'disabled',
      { enabled: false, disabledReason: 'gone', disabledAt: '2026-01-31T11:00:00.000Z' },
      ...['answered 410 Gone, disabled since', '2026-01-31T11:00:00.000Z'],
    ],
    [
      'disabled',
      { enabled: false, disabledReason: 'failing' },
      ...['every attempt had failed for five days', undefined],
    ],
    ['other_event', { event: 'smsdlr' }, undefined, undefined],
    ['other_resource', { resource: 'sms' }, undefined, undefined],
    ['filter', {}, undefined, undefined],
    ['changed_later', {}, 'changed', '2026-01-31T12:02:00.000Z'],
  ] as const)('%s of %j has the detail %s', (reason, fields, detail, at) => {
    const unmatched = [{ webhookId: '7', reason }];
    const [why] = whyNotOf({ ...event, unmatched }, [aSubscription('7', fields)]);
    expect([why?.reason, why?.detail, why?.at]).toEqual([reason, detail, at]);
  });

  it('is given for an unknown subscription', () => {
    const unmatched = [{ webhookId: '7', reason: 'other_event' as const }];
    expect(whyNotOf({ ...event, unmatched }, [])[0]).toEqual({
      webhookId: '7',
      reason: 'other_event',
    });
  });
});

describe('subscriptions of other applications', () => {
  it('are listed if they cover these events', () => {
    const found = whyNotOf(event, [
      aSubscription('1', { applicationId: '11' }),
      aSubscription('2', { applicationId: '11', event: 'smsdlr' }),
      aSubscription('3', { applicationId: '11', resource: 'sms' }),
      aSubscription('4', { applicationId: '11', enabled: false }),
      aSubscription('5', { applicationId: '10' }),
      aSubscription('6'),
    ]);
    expect(found.map(({ webhookId }) => webhookId)).toEqual(['1']);
    expect(groupsOf(event, found)).toMatchObject([{ title: 'Other application' }]);
  });

  it('are listed for an event without an application', () => {
    const found = whyNotOf(ofAccount, [aSubscription('1', { applicationId: '11' })]);
    expect(groupsOf(ofAccount, found)).toMatchObject([
      { reason: 'other_application', sentence: 'This event belongs to no application.' },
    ]);
  });
});

it('lists first the reasons that a small change would remove', () => {
  const unmatched = [
    { webhookId: '1', reason: 'other_event' as const },
    { webhookId: '2', reason: 'disabled' as const },
  ];
  const found = whyNotOf({ ...event, unmatched }, []);
  expect(found.map(({ webhookId }) => webhookId)).toEqual(['2', '1']);
  expect(groupsOf(event, found)).toMatchObject([
    { title: 'Disabled', all: [{ webhookId: '2' }] },
    { title: 'Other kind of event', all: [{ webhookId: '1' }] },
  ]);
});
