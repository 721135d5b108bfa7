import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Database, Log } from '#libs/runtime';
import type { Verdict } from '../../subscriptions/domain/subscription-life.js';
import type { DeliveryMetrics } from '../delivery-metrics.js';
import { FakeActivity } from '../../activity/domain/activity.fake.js';
import { PostgresCircuitBreaker } from './postgres-circuit-breaker.js';
import { knownHealth } from './circuit-breaker.statements.js';

const FAILED: Verdict = { kind: 'failed' };

/** The result of each statement, and the subscriptions in each one. */
let answer: 'done' | 'locked' | Error;
let asked: string[][];
let logged: string[];
let verdicts: PostgresCircuitBreaker;

beforeEach(() => {
  vi.useFakeTimers();
  [answer, asked, logged] = ['done', [], []];
  const database = {
    run: (_: unknown, { webhookIds: ids }: { webhookIds: string[] }) => {
      asked.push(ids);
      if (answer instanceof Error) return Promise.reject(answer);
      return Promise.resolve(ids.map((id) => ({ id, done: answer === 'done', health: null })));
    },
  };
  const log = { error: (_: object, message: string) => logged.push(message) };
  const metrics = {};
  verdicts = new PostgresCircuitBreaker(
    database as unknown as Database,
    metrics as DeliveryMetrics,
    new FakeActivity(),
    log as unknown as Log,
  );
});
afterEach(() => {
  vi.useRealTimers();
});

async function report(verdict: Verdict, ...ids: string[]): Promise<void> {
  const known = knownHealth(null, performance.now());
  const told = ids.map((webhookId) =>
    verdicts.report({
      ...{ webhookId, accountId: '1', targetVersion: 1, verdict, known },
      outcome: '5xx',
    }),
  );
  await vi.advanceTimersByTimeAsync(1);
  await Promise.all(told);
}

const seconds = (count: number) => vi.advanceTimersByTimeAsync(count * 1_000);

it('retries a locked subscription once a second for five minutes', async () => {
  answer = 'locked';
  await report(FAILED, '1');
  await seconds(3.5);
  expect(asked).toHaveLength(4);
  await seconds(600);
  expect(asked.length).toBeGreaterThan(290);
  expect(asked.length).toBeLessThanOrEqual(301);
});

it('keeps verdicts while PostgreSQL is down, and logs unexpected errors', async () => {
  answer = Object.assign(new Error('away'), { code: 'ECONNREFUSED' });
  await report(FAILED, '1');
  await seconds(2.5);
  expect(logged).toEqual([]);
  answer = new Error('syntax');
  await seconds(2);
  expect(logged).toHaveLength(2);
  answer = 'done';
  await seconds(5);
  expect(asked).toHaveLength(6);
});

it('drops a deferred hold once its time is over', async () => {
  answer = 'locked';
  await report({ kind: 'failed', immediate: true, retryAfterMs: 2_500 }, '1');
  await seconds(10);
  expect(asked).toHaveLength(3);
});

it('retries locked subscriptions a thousand at a time, and keeps at most ten thousand', async () => {
  answer = 'locked';
  await report(FAILED, ...Array.from({ length: 10_500 }, (_, id) => String(id)));
  answer = 'done';
  asked = [];
  await seconds(20);
  expect(asked.map((ids) => ids.length)).toEqual(Array.from({ length: 10 }, () => 1_000));
  expect(new Set(asked.flat()).size).toBe(10_000);
});

it('retries once when the worker stops', async () => {
  answer = 'locked';
  await report(FAILED, '1');
  const stopped = verdicts.onApplicationShutdown();
  await vi.advanceTimersByTimeAsync(1);
  await stopped;
  expect(asked).toHaveLength(2);
  await seconds(5);
  expect(asked).toHaveLength(2);
});

it('never rejects a report, and retries one that it could not decide on', async () => {
  const [webhookId, known] = ['1', knownHealth(null, performance.now())];
  const target = { webhookId, accountId: '1', targetVersion: 1 };
  const reported = { ...target, verdict: FAILED, outcome: '5xx' };
  const broken = Object.defineProperty({ ...known }, 'failures', {
    get: () => {
      if (asked.length === 0) throw new Error('broken');
      return 0;
    },
  });
  const isBlocked = verdicts.report({ ...reported, known: broken });
  await vi.advanceTimersByTimeAsync(1);
  expect(await isBlocked).toBe(false);
  await report(FAILED, '2');
  await seconds(2);
  expect(asked).toEqual([['2'], ['1']]);
});
