import { expect, it } from 'vitest';
import type { Attempt } from './domain/delivery.js';
import { attemptOf, sentText } from './attempts.statements.js';

const at = new Date('2026-11-24T12:00:00.500Z');
const ours = {
  'content-type': 'application/json',
  'user-agent': 'Switchhook/1.0.0',
  'webhook-id': '019a0b1c-2d3e-7f40-8a51-b26c73d84e95',
  'webhook-timestamp': '1795521600',
  'webhook-signature': 'v1,YQ== v1,Yg==',
};
const attempt: Attempt = { number: 1, at, durationMs: 5, status: 200, truncated: false };
const row = {
  ...{ deliveryId: ours['webhook-id'], number: 1, at, durationMs: 5, status: 200 },
  ...{ error: null, address: null, responseHeaders: null, responseBody: null, truncated: false },
};

it.each<[string, string, Record<string, string>]>([
  ['without headers of its own', 'https://a.example/hook?b=c', {}],
  ['with user information', 'https://***@a.example/', { authorization: '***' }],
  ['with an Authorization header', 'https://a.example/', { Authorization: '***' }],
  ['with the same in lower case', 'https://a.example/', { authorization: '***', 'X-A': '***' }],
  ['of a replay', 'https://a.example/', { 'webhook-replayed': 'true' }],
])('keeps a request %s', (_what, url, headers) => {
  const request = { method: 'POST', url, headers: { ...headers, ...ours } } as const;
  const phases = { queued: 12, firstByte: 0, body: 3 };
  const sent = sentText({ ...attempt, request, phases })!;
  expect(attemptOf({ ...row, sent })).toEqual({ ...attempt, request, phases });
});

it('keeps the detail of an error', () => {
  const request = { method: 'POST', url: 'https://a.example/', headers: ours } as const;
  const failed = { ...attempt, request, phases: {}, detail: 'expired' } as const;
  expect(attemptOf({ ...row, sent: sentText(failed)! })).toEqual(failed);
});

it('shows no request and no phases of an attempt of an earlier version', () => {
  expect(sentText(attempt)).toBeUndefined();
  expect(attemptOf({ ...row, sent: null })).toEqual(attempt);
});
