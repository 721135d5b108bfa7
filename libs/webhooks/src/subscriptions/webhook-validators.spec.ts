import { expect, it } from 'vitest';
import { faultAt } from '#libs/kernel';
import { GivenRetryPolicy, retryPolicyOf } from './webhook-validators.js';

const faultsOf = (given: unknown) =>
  GivenRetryPolicy.check(given).map(
    (problem) => `${faultAt('retry', problem).field} ${problem.code}`,
  );

it.each([
  [{ schedule: [] }],
  [{ schedule: [1, 86_400] }],
  [{ schedule: Array.from({ length: 20 }, () => 5) }],
  [{ timeoutMs: 1_000 }],
  [{ timeoutMs: 20_000 }],
  [{ schedule: [5], timeoutMs: 5_000 }],
])('reads %j', (given) => {
  expect(faultsOf(given)).toEqual([]);
  expect(retryPolicyOf(given)).toEqual(given);
});

it.each<object>([{}, { schedule: null }, { schedule: null, timeoutMs: null, jitter: 1 }])(
  'reads %j as no policy',
  (given) => {
    expect(faultsOf(given)).toEqual([]);
    expect(retryPolicyOf(given)).toBeNull();
  },
);

it('drops unknown members, and reads null as absent', () => {
  const given = { timeoutMs: null, jitter: 0.5, schedule: [5] };
  expect(faultsOf(given)).toEqual([]);
  expect(retryPolicyOf(given as object)).toEqual({ schedule: [5] });
});

// Fuzzing found that the API's description refused null.
it('allows null for each member in its schema', () => {
  const types = Object.values(GivenRetryPolicy.schema.properties ?? {}).map(({ type }) => type);
  expect(types).toEqual([
    ['array', 'null'],
    ['integer', 'null'],
  ]);
});

it('returns the members in the same order, whatever the order in the body', () => {
  const [one, other] = [
    { schedule: [5], timeoutMs: 5_000 },
    { timeoutMs: 5_000, schedule: [5] },
  ];
  expect(JSON.stringify(retryPolicyOf(other))).toBe(JSON.stringify(retryPolicyOf(one)));
});

it.each([
  [5, ['retry type']],
  [{ delays: [5] }, ['retry required']],
  [{ schedule: 5 }, ['/retry/schedule type']],
  [{ schedule: {} }, ['/retry/schedule type']],
  [{ schedule: Array.from({ length: 21 }, () => 5) }, ['/retry/schedule length']],
  [
    { schedule: [1, 0, 1.5, 86_401, '5', null, [5]] },
    [
      '/retry/schedule/1 range',
      '/retry/schedule/2 type',
      '/retry/schedule/3 range',
      '/retry/schedule/4 type',
      '/retry/schedule/5 type',
      '/retry/schedule/6 type',
    ],
  ],
  [{ timeoutMs: 999 }, ['/retry/timeoutMs range']],
  [{ timeoutMs: 20_001 }, ['/retry/timeoutMs range']],
  [{ timeoutMs: '5000' }, ['/retry/timeoutMs type']],
  [{ timeoutMs: 1_000.5 }, ['/retry/timeoutMs type']],
  [{ schedule: [0], timeoutMs: {} }, ['/retry/schedule/0 range', '/retry/timeoutMs type']],
])('finds every fault of %j', (given, faults) => {
  expect(faultsOf(given)).toEqual(faults);
});
