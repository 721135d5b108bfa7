import { expect, it } from 'vitest';
import { outcomesOf } from './delivery-statistics.js';

it('counts all outcomes, but measures only the time of answers', () => {
  const answers = [10, 20, 30, 40].map((durationMs) => ({ status: 200, durationMs }));
  const failed = [
    { status: 503, durationMs: 110 },
    { error: 'timeout', durationMs: 15_000 } as const,
  ];
  const { outcomes, answerMs, ...others } = outcomesOf([...failed, ...answers]);
  expect(Object.entries(outcomes)).toEqual([
    ['2xx', 4],
    ['5xx', 1],
    ['timeout', 1],
  ]);
  expect(others).toEqual({ attempts: 6, successRate: 4 / 6 });
  expect(answerMs?.p50).toBe(30);
  expect(answerMs?.p95).toBeCloseTo(96);
});

it('omits the rate without attempts, and the time without answers', () => {
  expect(outcomesOf([])).toEqual({ attempts: 0, outcomes: {} });
  expect(outcomesOf([{ error: 'dns', durationMs: 1 }])).toEqual({
    attempts: 1,
    outcomes: { dns: 1 },
    successRate: 0,
  });
});
