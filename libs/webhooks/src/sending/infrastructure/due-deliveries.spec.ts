import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { BackgroundTasks, Database, Log, TaskWork } from '#libs/runtime';
import type { DeliveryRunner, RunResult } from '../domain/delivery-runner.js';
import { DeliverySlots } from '../domain/delivery-slots.js';
import type { Slot } from '../domain/slot.js';
import { type DueClaim, DueSchedule, type Pace } from '../domain/due-schedule.js';
import type { LeasedDelivery, PendingDeliveries } from '../domain/pending-deliveries.js';
import type { DeliveriesInFlight } from './deliveries-in-flight.js';
import { DueDeliveries } from './due-deliveries.js';
import { CLEAR_BACKLOG, LOOK, MARK_BACKLOG } from '../due-deliveries.statements.js';
import type { PendingDays } from '../pending-days.js';

const DAY = 20_779;
const ID = '01a2026e-4c4d-77bc-8000-02138ca9fcd1';

let found: { webhookId: string; dueInMs: number; pace?: Pace }[];
let stored: LeasedDelivery[];
let claims: DueClaim[];
let flags: [what: unknown, webhooks: string[]][];
let looks: { after: string; limit: number }[];
let marked: string[];
let marking: Promise<void>;
let slots: DeliverySlots;
let outcome: (delivery: LeasedDelivery) => RunResult;
let due: DueDeliveries;
let look: TaskWork;
let logged: unknown[];

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'setImmediate'] });
  found = [];
  stored = [];
  claims = [];
  flags = [];
  looks = [];
  marked = [];
  logged = [];
  marking = Promise.resolve();
  slots = new DeliverySlots(8, 4);
  outcome = (delivery) => ({ outcome: 'succeeded', delivery }) as RunResult;
  const database = {
    run: async (statement: unknown, values: (typeof looks)[0] & { webhookIds: string[] }) => {
      if (statement === LOOK(DAY)) {
        looks.push(values);
        return found.map(aRow);
      }
      flags.push([statement, values.webhookIds]);
      if (statement === MARK_BACKLOG) await marking;
      return marked.map((id) => ({ id }));
    },
  };
  const pending = {
    claim: async (asked: DueClaim[]) => {
      await Promise.resolve();
      claims.push(...asked);
      return asked.flatMap(({ webhookId, most }) => take(webhookId, most));
    },
  };
  const run = (delivery: LeasedDelivery, slot: Slot) => {
    slot.release();
    return Promise.resolve(outcome(delivery));
  };
  const add = vi.fn<(name: string, options: object, work: TaskWork) => void>();
  due = new DueDeliveries(
    database as unknown as Database,
    pending as unknown as PendingDeliveries,
    slots,
    { run } as unknown as DeliveryRunner,
    { run: (_: string, work: () => Promise<RunResult>) => work() } as DeliveriesInFlight,
    { all: () => Promise.resolve([DAY]) } as unknown as PendingDays,
    { error: (fields: unknown) => logged.push(fields) } as unknown as Log,
    { add } as unknown as BackgroundTasks,
  );
  look = add.mock.calls[0]![2];
});
afterEach(async () => {
  await due.stop();
  vi.useRealTimers();
});

const OF_1 = { webhookId: '1', accountId: 'a', immediate: false };

const aRow = (row: object, at: number) => ({
  number: at + 1,
  accountId: 'a',
  oldestInMs: 0,
  probe: false,
  immediate: false,
  pace: null,
  ...row,
});

function take(webhookId: string, most: number): LeasedDelivery[] {
  const taken = stored.filter((one) => one.webhookId === webhookId).slice(0, most);
  stored = stored.filter((one) => !taken.includes(one));
  return taken;
}

/** Adds waiting deliveries of a subscription. */
function store(webhookId: string, count: number, backlog = false, pace: Pace = null): void {
  for (let n = 0; n < count; n += 1) stored.push(aDelivery(webhookId, { backlog, pace }));
  found.push({ webhookId, dueInMs: 0, pace });
}

function aDelivery(webhookId: string, { backlog = false, pace = null as Pace } = {}) {
  const [createdAt, takenAt] = [new Date(0), new Date(0)];
  return {
    ...{ id: ID, webhookId, event: { accountId: 'a' }, createdAt, takenAt, leasedAt: 0 },
    subscription: { backlog, pace, pacedMs: 0 },
  } as LeasedDelivery;
}

const looked = async () => {
  await look(new AbortController().signal);
  await vi.advanceTimersByTimeAsync(10);
};

it('claims deliveries that a scan has found until none is left', async () => {
  store('1', 10);
  await looked();
  expect(stored).toEqual([]);
  expect(claims.map(({ most }) => most)).toEqual([2, 2, 2, 2, 2, 2]);
});

it('claims no more than it has slots for, and continues when one is released', async () => {
  store('1', 10);
  const held = slots.acquire(OF_1, 2);
  expect(held).toHaveLength(2);
  await looked();
  expect(claims).toEqual([]);
  for (const slot of held) slot.release();
  await vi.advanceTimersByTimeAsync(10);
  expect(stored).toEqual([]);
});

it('checks for slots at most ten times a second while there are none', async () => {
  store('1', 10);
  slots.acquire(OF_1, 2);
  const checks = vi.spyOn(slots, 'wantsMore');
  await looked();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(checks.mock.calls.length).toBeLessThanOrEqual(12);
});

it('claims a retry when it is due, without a scan', async () => {
  outcome = (delivery) =>
    ({ outcome: 'failed', delivery, conclusion: { state: 'pending', delayMs: 300 } }) as RunResult;
  store('1', 1);
  await looked();
  store('1', 1);
  await vi.advanceTimersByTimeAsync(280);
  expect(stored).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(30);
  expect(stored).toHaveLength(0);
});

it('sets the backlog flag of a subscription when it releases a delivery', async () => {
  outcome = (delivery) => ({ outcome: 'released', delivery });
  store('1', 1);
  await looked();
  expect(flags).toContainEqual([MARK_BACKLOG, ['1']]);
});

it('clears the backlog flag if it was set after the last claim', async () => {
  outcome = (delivery) => ({ outcome: 'released', delivery });
  marking = new Promise((resolve) => setTimeout(resolve, 50));
  store('1', 1);
  await looked();
  flags = [];
  await vi.advanceTimersByTimeAsync(100);
  expect(flags).toEqual([[CLEAR_BACKLOG, ['1']]]);
});

it('clears the backlog flag when a claim has found all deliveries', async () => {
  store('1', 1, true);
  store('2', 0);
  store('3', 1);
  await looked();
  expect(flags).toEqual([[CLEAR_BACKLOG, ['1', '2']]]);
});

it('claims deliveries that were accepted before the backlog flag was cleared', async () => {
  marked = ['1'];
  store('1', 1, true);
  await looked();
  store('1', 2);
  await vi.advanceTimersByTimeAsync(30);
  expect(stored).toEqual([]);
});

it('continues a scan where the previous one ended', async () => {
  found = Array.from({ length: 500 }, (_, at) => ({ webhookId: String(7 + at), dueInMs: 1e6 }));
  await looked();
  found = found.slice(0, 20);
  await looked();
  await looked();
  expect(looks).toEqual([
    { after: '0', limit: 500 },
    { after: '506', limit: 500 },
    { after: '0', limit: 500 },
  ]);
});

it('claims nothing for a subscription that is disabled or paused', async () => {
  found.push({ webhookId: '1', dueInMs: 0, accountId: null } as never);
  await looked();
  expect(claims).toEqual([]);
});

it('claims the rest of a backlog after running one of its deliveries from the queue', async () => {
  store('1', 3);
  due.addBacklog(aDelivery('1'));
  await vi.advanceTimersByTimeAsync(10);
  expect(stored).toEqual([]);
});

describe('of an ordered subscription', () => {
  const RETRIED = { state: 'pending', delayMs: 300 } as const;

  it('claims the next delivery as soon as one has ended', async () => {
    store('1', 3, false, 'order');
    await looked();
    expect(stored).toEqual([]);
    expect(claims.every(({ pace }) => pace === 'order')).toBe(true);
  });

  it('claims nothing before the retry of one that failed', async () => {
    outcome = (delivery) => ({ outcome: 'failed', delivery, conclusion: RETRIED }) as RunResult;
    store('1', 1, false, 'order');
    await looked();
    expect(claims).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(280);
    expect(claims).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(30);
    expect(claims).toHaveLength(2);
  });

  it('leaves the backlog flag, and sets none for a delivery that it releases', async () => {
    store('1', 1, true, 'order');
    await looked();
    outcome = (delivery) => ({ outcome: 'released', delivery });
    store('1', 1, false, 'order');
    await looked();
    expect(flags).toEqual([]);
  });
});

it('releases its slots and pauses when a claim fails', async () => {
  store('1', 1);
  const acquiring = vi.spyOn(slots, 'acquire');
  stored = new Proxy([], {
    get: () => {
      throw new Error('PostgreSQL is down');
    },
  });
  await looked();
  expect(acquiring).toHaveBeenCalledTimes(1);
  expect(slots.free).toBe(8);
  stored = [];
  await vi.advanceTimersByTimeAsync(500);
  expect(acquiring.mock.calls.length).toBeGreaterThan(1);
});

it('claims nothing once it is stopped', async () => {
  await due.stop();
  store('1', 1);
  await looked();
  expect(claims).toEqual([]);
});

it('releases its slots, logs the error and continues when it cannot start what it has claimed', async () => {
  store('1', 1);
  outcome = () => ({ outcome: 'idle' });
  const claimed = vi.spyOn(DueSchedule.prototype, 'recordClaim').mockImplementationOnce(() => {
    throw new Error('broken');
  });
  await looked();
  claimed.mockRestore();
  expect(slots.free).toBe(8);
  expect(logged).toEqual([{ err: new Error('broken') }]);
  store('1', 1);
  await vi.advanceTimersByTimeAsync(600);
  expect(stored).toEqual([]);
  expect(logged).toHaveLength(1);
});
