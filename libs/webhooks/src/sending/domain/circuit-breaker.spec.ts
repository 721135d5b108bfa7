import { expect, it } from 'vitest';
import { verdictOf } from './circuit-breaker.js';

const attempt = { at: new Date('2026-11-21T00:00:00Z'), durationMs: 2_000 };
const answered = (status: number, retryAfter?: string | string[]) => ({
  ...attempt,
  status,
  ...(retryAfter !== undefined && { responseHeaders: { 'retry-after': retryAfter } }),
});
const FAILED = { kind: 'failed', immediate: false };

it.each([
  [answered(200), { kind: 'succeeded' }],
  [answered(299, '60'), { kind: 'succeeded' }],
  [answered(410, '60'), { kind: 'gone' }],
  [attempt, FAILED],
  [answered(199), FAILED],
  [answered(301), FAILED],
  [answered(500, '60'), FAILED],
  [answered(429), FAILED],
  [answered(429, '60'), { ...FAILED, retryAfterMs: 60_000 }],
  [answered(503, ['60', '90']), { ...FAILED, retryAfterMs: 60_000 }],
  // Relative to the time of the answer.
  [answered(503, 'Sat, 21 Nov 2026 00:01:02 GMT'), { ...FAILED, retryAfterMs: 60_000 }],
  [answered(503, '0'), FAILED],
])('gives the verdict on %o', (made, verdict) => {
  expect(verdictOf(made, false)).toEqual(verdict);
});

it('marks the failure of a test', () => {
  expect(verdictOf(answered(500), true)).toEqual({ kind: 'failed', immediate: true });
});
