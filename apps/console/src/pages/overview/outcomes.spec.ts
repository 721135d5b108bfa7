import { expect, it } from 'vitest';
import { chartsOf, failuresOf, rateText, rateTone, successText } from './outcomes.js';

it('lists failures by how they ended, the most frequent first', () => {
  expect(failuresOf({ '2xx': 9, timeout: 1, '5xx': 2, new: 3 })).toEqual([
    { outcome: 'new', text: 'ended with new', count: 3 },
    { outcome: '5xx', text: 'got a server error (5xx)', count: 2 },
    { outcome: 'timeout', text: 'timed out', count: 1 },
  ]);
});

it.each([
  [0, {}, undefined],
  [2, { '2xx': 2 }, '100%'],
  [100_000, { '2xx': 99_999, dns: 1 }, '99.9%'],
  [3, { '5xx': 3 }, '0%'],
])('rounds the share of %j attempts that succeeded down', (attempts, outcomes, text) => {
  expect(successText({ attempts, outcomes })).toBe(text);
});

it('shows the failures of each bucket, and no answer time without answers', () => {
  const span = { since: '2026-01-31T12:00:00.000Z', until: '2026-01-31T12:05:00.000Z' };
  const { outcomes, answers } = chartsOf({
    buckets: [
      {
        ...span,
        attempts: 5,
        outcomes: { '2xx': 3, '4xx': 2 },
        answerMs: { p50: 1, p95: 2, p99: 3 },
      },
      { ...span, attempts: 1, outcomes: { dns: 1 } },
    ],
  });
  expect(outcomes.map(({ values }) => values)).toEqual([
    [3, 0],
    [2, 1],
  ]);
  expect(answers.map(({ values }) => values)).toEqual([
    [1, null],
    [2, null],
    [3, null],
  ]);
});

it.each([
  [99, 1, 'good'],
  [98, 2, 'bad'],
  [0, 0, 'good'],
])('colours %d successes and %d failures: %s', (succeeded, failed, tone) => {
  expect(rateTone(succeeded, failed)).toBe(tone);
});

it.each([
  [[], undefined],
  [[12_000], undefined],
  [[20, 39, 9_000], undefined],
  [[300, 30, 9_000], '0.55 a second'],
  [[600_000, 120_000, 0], '1,200 a second'],
])('says how many of %j in five minutes each succeeded in a second: %s', (counts, text) => {
  const startMs = Date.parse('2026-01-31T12:00:00Z');
  const at = (index: number) => new Date(startMs + index * 300_000).toISOString();
  const buckets = counts.map((count, index) => ({
    ...{ since: at(index), until: at(index + 1) },
    ...{ attempts: count + 1, outcomes: { '2xx': count, timeout: 1 } },
  }));
  expect(rateText(buckets)).toBe(text);
});
