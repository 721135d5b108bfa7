import { describe, expect, it } from 'vitest';
import type { Subscription } from '../overview/subscriptions.queries.js';
import { whyNotOf } from './why-not.js';

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
    ['created_later', {}, 'It was created after this event.', '2026-01-31T12:01:00.000Z'],
    ['disabled', { enabled: false }, 'It is off.', undefined],
    [
      'disabled',
      { enabled: false, disabledReason: 'gone', disabledAt: '2026-01-31T11:00:00.000Z' },
      'It is off: its target answered 410 Gone.',
      '2026-01-31T11:00:00.000Z',
    ],
    [
      'disabled',
      { enabled: false, disabledReason: 'failing' },
      'It is off: every attempt had failed for five days.',
      undefined,
    ],
    [
      'other_event',
      { event: 'smsdlr' },
      'It is for smsdlr, and this event is cdrCreated.',
      undefined,
    ],
    [
      'other_resource',
      { resource: 'sms,transcription' },
      'It is for sms and transcription, and this event is about call.',
      undefined,
    ],
    [
      'changed_later',
      {},
      'It would be told now: it was changed after this event.',
      '2026-01-31T12:02:00.000Z',
    ],
  ] as const)('%s of %j is said in words', (reason, fields, sentence, at) => {
    const unmatched = [{ webhookId: '7', reason }];
    const [why] = whyNotOf({ ...event, unmatched }, [aSubscription('7', fields)]);
    expect([why?.sentence, why?.at]).toEqual([sentence, at]);
  });

  it('is said of a subscription that is not known', () => {
    const unmatched = [{ webhookId: '7', reason: 'other_event' as const }];
    expect(whyNotOf({ ...event, unmatched }, [])[0]).toMatchObject({
      webhookId: '7',
      sentence: 'It is for another kind of event, and this event is cdrCreated.',
    });
  });
});

describe('subscriptions of other applications', () => {
  it('are listed if they are for such events', () => {
    const found = whyNotOf(event, [
      aSubscription('1', { applicationId: '11' }),
      aSubscription('2', { applicationId: '11', event: 'smsdlr' }),
      aSubscription('3', { applicationId: '11', resource: 'sms' }),
      aSubscription('4', { applicationId: '11', enabled: false }),
      aSubscription('5', { applicationId: '10' }),
      aSubscription('6'),
    ]);
    expect(found.map(({ webhookId }) => webhookId)).toEqual(['1']);
    expect(found[0]?.sentence).toBe(
      'It is for events of application 11, and this event is of application 10.',
    );
  });

  it('are named for an event of no application, too', () => {
    expect(whyNotOf(ofAccount, [aSubscription('1', { applicationId: '11' })])[0]).toMatchObject({
      reason: 'other_application',
      sentence: 'It is for events of application 11, and this event is of no application.',
    });
  });
});

it('puts first what a small change would have told', () => {
  const unmatched = [
    { webhookId: '1', reason: 'other_event' as const },
    { webhookId: '2', reason: 'disabled' as const },
  ];
  const found = whyNotOf({ ...event, unmatched }, []);
  expect(found.map(({ webhookId }) => webhookId)).toEqual(['2', '1']);
});
