import { expect, it } from 'vitest';
import { unmatchedReason } from './unmatched.js';

const event = {
  event: 'cdrCreated',
  resource: 'call',
  createdAt: new Date('2026-11-21T12:00:00Z'),
} as const;
const matching = {
  event: 'cdrCreated',
  resource: 'sms,call',
  enabled: true,
  createdAt: new Date('2026-11-21T11:00:00Z'),
} as const;

it.each([
  ['created_later', { createdAt: new Date('2026-11-21T12:00:00.001Z'), enabled: false }],
  ['disabled', { enabled: false, event: 'smsdlr' }],
  ['other_event', { event: 'cdrRated', resource: 'all' }],
  ['other_resource', { resource: 'sms,transcription' }],
  ['changed_later', {}],
  ['changed_later', { resource: 'all' }],
] as const)('gives the reason %s for a subscription with %o', (reason, change) => {
  expect(unmatchedReason(event, { ...matching, ...change })).toBe(reason);
});
