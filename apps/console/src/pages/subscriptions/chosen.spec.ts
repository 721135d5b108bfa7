import { describe, expect, it } from 'vitest';
import { conditionsOf } from '../../states/subscription-state.js';
import { matching, rateOf, sorted, STATES, type Wanted } from './chosen.js';
import type { Subscription } from '../../app/names.queries.js';

const aSubscription = (fields: Partial<Subscription>): Subscription => ({
  ...{ href: '', id: '1', accountId: 1, event: 'cdrCreated', resource: 'all', enabled: true },
  ...{ targetUrl: 'https://hooks.example.com/', createdAt: '', updatedAt: '' },
  ...fields,
});

const BILLING = aSubscription({
  name: 'Billing',
  resource: 'call,sms',
  activity: {
    ...{ succeeded: 999, failed: 1 },
    lastDeliveryAt: '2026-01-31T12:00:00.000Z',
    lastSuccessAt: '2026-01-31T12:00:00.000Z',
  },
});
const CRM = aSubscription({
  ...{ name: 'crm', event: 'smsdlr', applicationId: '7' },
  health: { state: 'failing' },
  activity: {
    ...{ succeeded: 1, failed: 3 },
    // Created later, and failing.
    lastDeliveryAt: '2026-01-31T13:00:00.000Z',
    lastSuccessAt: '2026-01-31T11:00:00.000Z',
  },
});
const QUIET = aSubscription({
  ...{ targetUrl: 'https://archive.example.com/', paused: true },
  activity: { succeeded: 0, failed: 0 },
});
const OFF = aSubscription({ name: 'Old', enabled: false, disabledReason: 'gone' });
const ALL = [BILLING, CRM, QUIET, OFF];

describe('subscriptions that match', () => {
  it.each<[Wanted, Subscription[]]>([
    [{}, ALL],
    [{ text: ' BILL' }, [BILLING]],
    [{ text: 'archive' }, [QUIET]],
    [{ state: 'failing' }, [CRM]],
    [{ state: 'paused' }, [QUIET]],
    [{ state: 'disabled' }, [OFF]],
    [{ event: 'smsdlr' }, [CRM]],
    [{ resource: 'sms' }, ALL],
    [{ resource: 'transcription' }, [CRM, QUIET, OFF]],
    [{ resource: 'all' }, [CRM, QUIET, OFF]],
    [{ applicationId: '7' }, [CRM]],
    [{ applicationId: 'none', state: 'healthy' }, [BILLING]],
    [{ state: 'nonsense' }, []],
  ])('%j', (wanted, expected) => {
    expect(matching(ALL, wanted)).toEqual(expected);
  });
});

describe('sorted subscriptions', () => {
  it.each([
    ['name', [BILLING, CRM, QUIET, OFF]],
    ['-name', [OFF, QUIET, CRM, BILLING]],
    ['state', [CRM, OFF, QUIET, BILLING]],
    ['-lastSuccess', [BILLING, CRM, QUIET, OFF]],
    ['lastSuccess', [CRM, BILLING, QUIET, OFF]],
    ['success', [CRM, BILLING, QUIET, OFF]],
    ['-success', [BILLING, CRM, QUIET, OFF]],
    ['nonsense', [BILLING, CRM, QUIET, OFF]],
  ])('by %s', (order, expected) => {
    expect(sorted([OFF, QUIET, CRM, BILLING], order)).toEqual(expected);
  });
});

it('shows the success rate of subscriptions with attempts', () => {
  expect(ALL.map(rateOf)).toEqual(['99.9%', '25%', undefined, undefined]);
});

it('has a word for every state', () => {
  const words = [
    ...ALL,
    aSubscription({ health: { state: 'open' } }),
    aSubscription({ health: { state: 'losing', lost: 1 } }),
    aSubscription({ activity: { succeeded: 0, failed: 0 } }),
    aSubscription({ health: { state: 'ok', pacedBy: 'ordered' } }),
    aSubscription({ enabled: false }),
  ].map((one) => conditionsOf(one, undefined, Date.now())[0].word);
  expect([...new Set(words)].toSorted()).toEqual([...STATES].toSorted());
});
