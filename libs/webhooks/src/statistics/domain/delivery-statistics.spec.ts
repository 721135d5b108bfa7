import { expect, it } from 'vitest';
import { NotFoundError } from '#libs/kernel';
import { aContent, webhooksOnFakes } from '../../subscriptions/domain/webhooks.fake.js';
import { FakeAttemptHistoryStore } from './attempt-history.fake.js';
import { DeliveryStatisticsService, outcomesOf } from './delivery-statistics.js';
import { FakeDeliveryStatisticsStore } from './delivery-statistics.fake.js';

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
  expect(answerMs?.p95).toBe(96);
});

it('rounds times to a tenth of a millisecond', () => {
  const answers = [4, 4, 27, 29].map((durationMs) => ({ status: 200, durationMs }));
  expect(outcomesOf(answers).answerMs).toEqual({ p50: 15.5, p95: 28.7 });
});

it('omits the rate without attempts, and the time without answers', () => {
  expect(outcomesOf([])).toEqual({ attempts: 0, outcomes: {} });
  expect(outcomesOf([{ error: 'dns', durationMs: 1 }])).toEqual({
    attempts: 1,
    outcomes: { dns: 1 },
    successRate: 0,
  });
});

it("shows the statistics of the account's own subscription only", async () => {
  const { webhooks } = webhooksOnFakes();
  const id = await webhooks.create({ accountId: '1' }, aContent());
  const store = new FakeDeliveryStatisticsStore();
  store.attempts.set(id, [{ status: 200, durationMs: 1 }]);
  const history = new FakeAttemptHistoryStore();
  const attempt = { at: new Date(), status: 200, durationMs: 1 };
  history.all.push({ accountId: '1', webhookId: id, attempt });
  const statistics = new DeliveryStatisticsService(webhooks, store, history);
  expect(await statistics.of('1', id)).not.toHaveProperty('history');
  const range = { buckets: 1 };
  const shown = { attempts: 1, outcomes: { '2xx': 1 } };
  expect(await statistics.of('1', id, range)).toMatchObject({ ...shown, history: shown });
  expect(await statistics.ofAccount('1', range)).toMatchObject(shown);
  expect(await statistics.ofAccount('2', range)).toMatchObject({ attempts: 0 });
  await expect(statistics.of('2', id)).rejects.toThrow(NotFoundError);
});
