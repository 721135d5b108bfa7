import { beforeEach, describe, expect, it } from 'vitest';
import type { Slot } from './slot.js';
import { type DueClaim, DueSchedule, type DueWork, type Pace } from './due-schedule.js';

let now: number;
let schedule: DueSchedule;
beforeEach(() => {
  now = 1_000;
  schedule = new DueSchedule(() => now);
});

const work = (webhookId: string, change: Partial<DueWork> = {}): DueWork => ({
  webhookId,
  accountId: 'a',
  day: 1,
  dueInMs: 0,
  ...change,
});

const slots = (count: number) => Array.from({ length: count }, () => ({}) as Slot);

const all = (most = Infinity) =>
  schedule.pick((_, wanted) => slots(Math.min(wanted, most))).map(({ webhookId }) => webhookId);

const claimOf = (webhookId: string, most: number): DueClaim => ({
  webhookId,
  accountId: 'a',
  day: 1,
  most,
  dueForMs: Infinity,
  probe: false,
  immediate: false,
  pace: null,
});

it('picks only due work', () => {
  schedule.add(work('due'));
  schedule.add(work('later', { dueInMs: 500 }));
  expect(all()).toEqual(['due']);
  schedule.recordClaim(claimOf('due', 4), 0, now + 1);
  expect([schedule.dueInMs, all()]).toEqual([500, []]);
  now += 500;
  expect([schedule.dueInMs, all()]).toEqual([0, ['later']]);
});

it('says how long the oldest due work has waited that meets a condition', () => {
  expect(schedule.longestWaitMs(() => true)).toBe(0);
  schedule.add(work('slow', { dueInMs: -82_000 }));
  schedule.add(work('quick', { dueInMs: -3_000 }));
  schedule.add(work('later', { dueInMs: 500 }));
  expect(schedule.longestWaitMs(() => true)).toBe(82_000);
  expect(schedule.longestWaitMs(({ webhookId }) => webhookId !== 'slow')).toBe(3_000);
});

it('serves accounts round-robin, and then their subscriptions', () => {
  for (const id of ['1', '2', '3']) schedule.add(work(id, { accountId: 'many' }));
  schedule.add(work('one', { accountId: 'few' }));
  expect(all()).toEqual(['1', 'one', '2', '3']);
});

it('checks each subscription once for a claim', () => {
  for (let id = 0; id < 9; id += 1) schedule.add(work(String(id), { accountId: String(id % 2) }));
  for (let claim = 0; claim < 5; claim += 1) {
    expect(all(1).toSorted()).toEqual(['0', '1', '2', '3', '4', '5', '6', '7', '8']);
  }
});

it('continues with the next subscription after the last claim', () => {
  for (let id = 0; id < 60; id += 1) schedule.add(work(String(id)));
  const first = all();
  expect(first).toHaveLength(50);
  expect(all().slice(0, 10)).toEqual(Array.from({ length: 10 }, (_, n) => String(50 + n)));
});

it('skips a subscription without free slots', () => {
  schedule.add(work('full'));
  schedule.add(work('free'));
  const picked = schedule.pick(({ webhookId }, most) => slots(webhookId === 'full' ? 0 : most));
  expect(picked).toMatchObject([{ webhookId: 'free', most: 4 }]);
});

it('doubles the size of claims while they are filled, and stops when one is not', () => {
  schedule.add(work('1'));
  const sizes: number[] = [];
  for (let claims = 0; claims < 6; claims += 1) {
    const claim = schedule.pick((_, most) => slots(most))[0]!;
    sizes.push(claim.most);
    schedule.recordClaim(claim, claim.most, now);
  }
  expect(sizes).toEqual([4, 8, 16, 32, 50, 50]);
  const claim = schedule.pick((_, most) => slots(most))[0]!;
  now += 1;
  schedule.recordClaim(claim, 49, now);
  expect(all()).toEqual([]);
});

it('keeps work that was added during a claim', () => {
  schedule.add(work('1'));
  const claim = schedule.pick((_, most) => slots(most))[0]!;
  const begunAt = now;
  now += 5;
  schedule.add(work('1'));
  schedule.recordClaim(claim, 1, begunAt);
  expect(all()).toEqual(['1']);
});

it('combines work from scans with added work', () => {
  schedule.add(work('of another day', { day: 2 }));
  schedule.addFound([work('found', { oldestInMs: -70 })], now);
  expect(schedule.days()).toEqual(new Set([1, 2]));
  const picked = schedule.pick((_, most) => slots(most));
  expect(picked).toMatchObject([{ webhookId: 'of another day' }, { dueForMs: 70 }]);
});

it('postpones work that a scan finds to be due later', () => {
  schedule.add(work('1'));
  now += 5;
  schedule.addFound([work('1', { dueInMs: 100 })], now);
  expect(all()).toEqual([]);
  now += 100;
  expect(all()).toEqual(['1']);
});

it('claims nothing early and skips nothing, however long a scan took', () => {
  now += 5;
  schedule.addFound([work('1', { dueInMs: 100, oldestInMs: 100 })], now - 5);
  now += 99;
  expect(all()).toEqual([]);
  now += 1;
  expect(schedule.pick((_, most) => slots(most))).toMatchObject([{ dueForMs: 5 }]);
});

it('does not postpone work that was added after the scan began', () => {
  const begunAt = now;
  now += 5;
  schedule.add(work('1'));
  schedule.addFound([work('1', { dueInMs: 100, oldestInMs: 100 })], begunAt);
  expect(schedule.pick((_, most) => slots(most))).toMatchObject([{ dueForMs: Infinity }]);
});

it('notices due work within 10 ms', () => {
  for (const dueInMs of [1, 3]) schedule.add(work(String(dueInMs), { dueInMs }));
  now += 1;
  expect(all()).toEqual(['1']);
  now += 10;
  expect(all().toSorted()).toEqual(['1', '3']);
});

it('bounds how long the oldest has been due, including while it was blocked', () => {
  schedule.addFound([work('1', { dueInMs: 10, oldestInMs: -500 })], now);
  schedule.add(work('2', { dueInMs: 10, oldestInMs: 10 }));
  now += 10;
  schedule.add(work('2', { dueInMs: 400, oldestInMs: 400 }));
  const picked = schedule.pick((_, most) => slots(most));
  expect(picked.map(({ webhookId, dueForMs }) => [webhookId, dueForMs]).toSorted()).toEqual([
    ['1', 510],
    ['2', 0],
  ]);
});

it('claims a single delivery as a probe', () => {
  schedule.addFound([work('1', { probe: true })], now);
  expect(schedule.pick((_, most) => slots(most))).toMatchObject([{ probe: true, most: 1 }]);
});

it('keeps immediate deliveries separate, which are never blocked', () => {
  schedule.addFound([work('1', { dueInMs: 9_000 }), work('1', { immediate: true })], now);
  expect(schedule.pick((_, most) => slots(most))).toMatchObject([{ immediate: true }]);
});

describe('with a pace', () => {
  const pick = () => schedule.pick((_, wanted) => slots(wanted));
  const paced = (pace: Pace) => work('1', { pace });

  it('claims as soon as the rate allows it, whether the last claim was full or not', () => {
    schedule.add(paced('rate'));
    for (const found of [4, 1]) {
      const [claim] = pick();
      schedule.recordClaim({ ...claim!, most: 4 }, found, now + 1, 100);
      expect([schedule.dueInMs, pick()]).toEqual([100, []]);
      now += 100;
    }
    expect(all()).toEqual(['1']);
  });

  it('claims several at once instead of one each time that a high rate allows it', () => {
    schedule.add(paced('rate'));
    schedule.recordClaim(pick()[0]!, 1, now + 1, 1);
    expect(schedule.dueInMs).toBe(25);
  });

  it('forgets a subscription of which the rate allows more than is due', () => {
    schedule.add(paced('rate'));
    schedule.recordClaim(pick()[0]!, 1, now + 1, 0);
    expect(schedule.dueInMs).toBe(Infinity);
  });

  it('claims nothing of an ordered subscription until its delivery has ended', () => {
    schedule.add(paced('order'));
    schedule.recordClaim(pick()[0]!, 1, now + 1);
    now += 10_000;
    expect([schedule.dueInMs, pick()]).toEqual([Infinity, []]);
    schedule.add(paced('order'));
    expect(all()).toEqual(['1']);
  });

  it('does not claim earlier than the rate allows it because a delivery has ended', () => {
    schedule.add(paced('concurrency'));
    schedule.recordClaim(pick()[0]!, 1, now + 1, 100);
    schedule.add(paced('concurrency'));
    expect(schedule.dueInMs).toBe(100);
  });

  it('follows a pace that a scan finds', () => {
    schedule.add(paced(null));
    schedule.addFound([paced('order')], now);
    expect(pick().map(({ pace }) => pace)).toEqual(['order']);
  });
});
