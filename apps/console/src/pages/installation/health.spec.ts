import { describe, expect, it } from 'vitest';
import type { Schemas } from '../../app/api.js';
import { healthOf } from './health.js';

type Overview = Schemas['Overview'];

const NOW = Date.parse('2026-11-25T12:00:00Z');
const process = { startedAt: '2026-11-25T11:00:00.000Z', seenAt: '2026-11-25T11:59:55.000Z' };
const anApi = { ...process, id: 'api-1:1:000000', version: '1.1.0', isAlive: true };
const aWorker = { ...anApi, id: 'worker-1:1:000000', inFlight: 3 };
const aPartition = { day: '2026-11-26', events: 1, deliveries: 1, attempts: 1 };
const aTarget = {
  webhookId: '4711',
  accountId: '83346',
  targetUrl: 'https://example.com/',
  failures: 10,
  failingSince: '2026-11-25T11:00:00.000Z',
  waiting: 12,
};

const anOverview = (fields: Partial<Overview> = {}): Overview => ({
  pending: 12,
  expiredClaims: 0,
  lookedAt: 12,
  workers: [aWorker],
  apis: [anApi],
  queues: [{ waiting: 0, active: 1 }],
  partitions: [aPartition],
  retention: { days: 30, nextDay: '2026-11-01', nextAt: '2026-12-03T00:00:00.000Z' },
  failing: [],
  losing: [],
  schemaVersion: 'Webhooks1763700000004',
  ...fields,
});

/** The text of the worst problem. */
const worstOf = (fields: Partial<Overview>) => {
  const { tone, problems } = healthOf(anOverview(fields), NOW);
  return [tone, problems[0]?.text];
};

it('lists the checks when everything works', () => {
  const { tone, summary, findings } = healthOf(anOverview(), NOW);
  expect([tone, summary]).toEqual(['good', 'all systems work']);
  expect(findings.map(({ check, text }) => [check, text])).toEqual([
    ['Nothing overdue', 'No delivery is overdue.'],
    ['1 of 1 worker', '1 worker is alive.'],
    ['1 of 1 API', '1 API is alive.'],
    ['Redis answers', 'Redis answers.'],
    ['Partitions to Nov 26', 'There are partitions for the coming days.'],
    ['Schema 0004', 'The newest migration is Webhooks1763700000004.'],
  ]);
});

it('names the worst problem, puts it first, and keeps the checks in their order', () => {
  const fields = { oldestDueS: 30, workers: [], expiredClaims: 1 };
  const { summary, problems, findings } = healthOf(anOverview(fields), NOW);
  expect(summary).toBe('no worker, and 2 more');
  expect(problems.map(({ tone }) => tone)).toEqual(['bad', 'waiting', 'waiting']);
  expect(findings.map(({ check }) => check)).toEqual([
    ...['Deliveries slow', 'No worker', '1 of 1 API', 'Redis answers', 'Partitions to Nov 26'],
    ...['Schema 0004', 'Deliveries left behind'],
  ]);
});

it('says in red that workers hold their deliveries, and why', () => {
  const { workers } = anOverview({});
  const [worker] = workers;
  const hold = { cause: 'proxy', since: new Date(NOW).toISOString() } as const;
  const held = anOverview({ workers: [{ ...worker!, hold }, worker!] });
  const { problems, summary } = healthOf(held, NOW);
  expect(summary).toBe('deliveries held');
  expect(problems).toMatchObject([
    {
      tone: 'bad',
      text: '1 of 2 workers holds its deliveries: the egress proxy cannot be reached, or refuses.',
    },
  ]);
});

it.each([
  [undefined, 'good', 'No delivery is overdue.'],
  [10, 'good', 'No delivery is late. The oldest due delivery has waited 10 s.'],
  [11, 'waiting', 'The oldest due delivery has waited 11 s.'],
  [60, 'waiting', 'The oldest due delivery has waited 1 minute.'],
  [61, 'bad', 'Deliveries are late. The oldest due delivery has waited 1 minute.'],
])('judges an oldest due delivery of %s s as %s', (oldestDueS, tone, text) => {
  const { findings } = healthOf(anOverview(oldestDueS === undefined ? {} : { oldestDueS }), NOW);
  expect(findings).toContainEqual(expect.objectContaining({ tone, text }));
});

it('does not report a problem while a failing target may explain the late delivery', () => {
  expect(worstOf({ oldestDueS: 61, failing: [aTarget] })).toEqual([
    'waiting',
    'The oldest due delivery has waited 1 minute.',
  ]);
});

describe('processes', () => {
  const dead = { ...aWorker, isAlive: false };

  it.each([[[]], [[dead]]])('reports that nothing is sent without a live worker', (workers) => {
    expect(worstOf({ workers })).toEqual(['bad', 'No worker is alive, so nothing is sent.']);
  });

  it('counts silent processes', () => {
    expect(worstOf({ workers: [aWorker, dead, aWorker] })).toEqual([
      'waiting',
      'Only 2 of 3 workers are alive.',
    ]);
    expect(worstOf({ apis: [anApi, { ...anApi, isAlive: false }] })).toEqual([
      'waiting',
      'Only 1 of 2 APIs is alive.',
    ]);
  });

  it('reports that no API has been seen', () => {
    expect(worstOf({ apis: [] })).toEqual(['waiting', 'No API process has reported yet.']);
  });

  it('reports different versions, ignoring processes that are gone', () => {
    const other = { ...aWorker, version: '1.0.0' };
    const text = 'The versions 1.0.0, 1.1.0 run at the same time.';
    expect(worstOf({ workers: [aWorker, other] })).toEqual(['waiting', text]);
    const { findings } = healthOf(
      anOverview({ workers: [aWorker, { ...other, isAlive: false }] }),
      NOW,
    );
    expect(findings.map((one) => one.text)).not.toContain(text);
  });
});

it('reports that Redis is down', () => {
  const overview = anOverview();
  delete overview.queues;
  const { tone, problems } = healthOf(overview, NOW);
  expect([tone, problems[0]?.text]).toEqual(['bad', 'Redis does not answer.']);
});

it('reports expired claims', () => {
  expect(worstOf({ expiredClaims: 3 })).toEqual([
    'waiting',
    '3 of 12 unfinished deliveries were left by a worker without an outcome.',
  ]);
});

describe('storage', () => {
  it('needs a partition for tomorrow', () => {
    const partitions = [{ ...aPartition, day: '2026-11-25' }];
    expect(worstOf({ partitions })).toEqual([
      'bad',
      'There is no partition for 2026-11-26, so the events of that day cannot be stored.',
    ]);
  });

  it.each([
    ['2026-11-25T11:30:00.000Z', 'good'],
    ['2026-11-25T10:30:00.000Z', 'waiting'],
  ])('whose removal was due at %s is %s', (nextAt, tone) => {
    const retention = { days: 30, nextDay: '2026-10-24', nextAt };
    expect(healthOf(anOverview({ retention }), NOW).tone).toBe(tone);
  });
});

it('ignores failing targets', () => {
  expect(healthOf(anOverview({ failing: [aTarget] }), NOW).tone).toBe('good');
});
