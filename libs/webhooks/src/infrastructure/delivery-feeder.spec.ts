import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type Database, Log, readConfig, type Statement } from '#libs/kernel';
import { DeliveryAdmission } from '../domain/delivery-admission.js';
import type { DeliveryRunner } from '../domain/delivery-runner.js';
import type { BullDeliveryQueue } from './bull-delivery.queue.js';
import { DeliveryFeeder } from './delivery-feeder.js';
import type { DeliveryMetrics } from './delivery-metrics.js';

const config = readConfig({ DATABASE_URL: 'postgres://127.0.0.1/none', QUEUE_WINDOW: '1000' });

/** The statements that were run, with their values. */
let run: { name: string; values: unknown[] }[];
let feeder: DeliveryFeeder;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  run = [];
  const database = {
    run: ({ name = '' }: Statement, values: unknown[]) => {
      run.push({ name, values });
      return Promise.resolve([]);
    },
  };
  feeder = new DeliveryFeeder(
    database as unknown as Database,
    {
      room: () => Promise.resolve(1_000),
      add: () => Promise.resolve(),
    } as unknown as BullDeliveryQueue,
    { admission: new DeliveryAdmission(400, 50) } as unknown as DeliveryRunner,
    { claimsExpired: () => undefined } as unknown as DeliveryMetrics,
    new Log(config, 'test'),
    [{ client: { eval: () => Promise.resolve(1), zrem: () => Promise.resolve(1) } }] as never,
    config,
  );
  feeder.start();
  await vi.advanceTimersByTimeAsync(100);
  run = [];
});
afterEach(async () => {
  await feeder.stop();
  vi.useRealTimers();
});

const names = () => run.map(({ name }) => name);

it('looks at all subscriptions twice a second', async () => {
  await vi.advanceTimersByTimeAsync(1_000);
  expect(names()).toEqual(['feeder.all', 'feeder.immediate', 'feeder.all', 'feeder.immediate']);
});

it('brings in more of a subscription when a delivery is done, of all that are done together', async () => {
  feeder.finished('7', false);
  feeder.finished('8', false);
  await vi.advanceTimersByTimeAsync(10);
  expect(names()).toEqual(['feeder.given']);
  expect(run[0]?.values.at(-1)).toEqual(['7', '8']);
});

it('looks at all at once when one failed, but not for tests, which may be handed back each time', async () => {
  feeder.finished('7', true);
  await vi.advanceTimersByTimeAsync(10);
  expect(names().sort()).toEqual(['feeder.all', 'feeder.given']);
});

it('reads no more of many subscriptions than what twice the window and all slots have room for', async () => {
  const shareOf = async (subscriptions: number) => {
    run = [];
    for (let id = 1; id <= subscriptions; id += 1) feeder.finished(String(id), false);
    await vi.advanceTimersByTimeAsync(10);
    return run[0]?.values[2];
  };
  expect(await shareOf(1)).toBe(50);
  expect(await shareOf(400)).toBe(6);
});
