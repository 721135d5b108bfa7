import { expect, it } from 'vitest';
import { Filter } from './filter.js';
import { atOnce } from '#libs/kernel';
import { isMissedBy, isToldOf, mismatchOf, unmatchedReasons } from './matching.js';

const event = {
  event: 'cdrCreated',
  resource: 'call',
  data: '{"duration":60}',
  createdAt: new Date('2026-11-21T12:00:00Z'),
} as const;
const matching = {
  event: 'cdrCreated',
  resource: 'sms,call',
  filter: null,
  enabled: true,
  createdAt: new Date('2026-11-21T11:00:00Z'),
} as const;

const longer = new Filter('{"duration":{"gt":60}}');
const asLong = new Filter('{"duration":{"gte":60}}');

it.each([
  ['created_later', { createdAt: new Date('2026-11-21T12:00:00.001Z'), enabled: false }],
  ['disabled', { enabled: false, filter: longer }],
  ['other_event', { event: 'cdrRated', resource: 'sms' }],
  ['other_event', { event: 'cdrRated', createdAt: new Date('2026-11-21T12:00:00.001Z') }],
  ['other_event', { event: 'cdrRated', enabled: false }],
  ['other_resource', { resource: 'sms,transcription', filter: longer }],
  ['other_resource', { resource: 'sms', createdAt: new Date('2026-11-21T12:00:00.001Z') }],
  ['other_resource', { resource: 'sms', enabled: false }],
  ['filter', { filter: longer }],
  ['changed_later', { filter: asLong }],
  ['changed_later', {}],
  ['changed_later', { resource: 'all' }],
] as const)('gives the reason %s for a subscription with %o', (reason, change) => {
  expect(atOnce(unmatchedReasons(event, [{ ...matching, ...change }]))).toEqual([reason]);
});

it('gives each of several subscriptions its own reason', () => {
  const subscriptions = [
    { filter: longer },
    { filter: asLong },
    { enabled: false, filter: longer },
    { filter: null },
    { filter: longer },
  ].map((change) => ({ ...matching, ...change }));
  expect(atOnce(unmatchedReasons(event, subscriptions))).toEqual([
    ...['filter', 'changed_later', 'disabled', 'changed_later', 'filter'],
  ]);
});

it.each([
  [undefined, {}],
  [undefined, { applicationId: '5' }],
  ['other_application', { applicationId: '6' }],
  ['other_event', { event: 'cdrRated' }],
  ['other_resource', { resource: 'sms' }],
  ['filter', { filter: longer }],
  [undefined, { filter: asLong }],
  [undefined, { createdAt: new Date('2026-12-21T12:00:00Z') }],
  ['created_much_later', { createdAt: new Date('2026-12-21T12:00:00.001Z') }],
] as const)('finds the mismatch %s of a subscription with %o', (mismatch, change) => {
  const ofApplication = { ...event, applicationId: '5', test: false };
  const webhook = { ...matching, applicationId: null, ...change };
  expect(atOnce(mismatchOf(ofApplication, webhook))).toBe(mismatch);
  expect(atOnce(mismatchOf({ ...ofApplication, test: true }, webhook))).toBe('test');
});

it('misses no event that the filter of the subscription excludes', () => {
  const missing = {
    ...matching,
    ...{ id: '1', accountId: '2', accounts: null, applicationId: null },
  };
  const accepted = { ...event, test: false };
  expect(atOnce(isMissedBy({ ...missing, filter: asLong }, accepted))).toBe(true);
  expect(atOnce(isMissedBy({ ...missing, filter: longer }, accepted))).toBe(false);
});

it.each([
  [true, 'its own account', { webhookId: '5', accountId: '2' }, null],
  [true, 'its own account', { webhookId: '5', accountId: '2' }, 'all'],
  [true, 'its own account, named by no account', { webhookId: '5' }, null],
  [false, 'another account', { webhookId: '5', accountId: '3' }, null],
  [true, 'another account', { webhookId: '5', accountId: '3' }, 'all'],
  [false, 'itself', { webhookId: '1', accountId: '2' }, 'all'],
] as const)(
  'is told (%s) of a subscription of %s: %o, accounts %s',
  (isTold, _, data, accounts) => {
    const webhook = { id: '1', accountId: '2', accounts };
    const notice = { event: 'webhookFailing', data: JSON.stringify(data) } as const;
    expect(isToldOf(notice, webhook)).toBe(isTold);
    expect(isToldOf({ ...notice, event: 'cdrCreated' }, webhook)).toBe(true);
  },
);
