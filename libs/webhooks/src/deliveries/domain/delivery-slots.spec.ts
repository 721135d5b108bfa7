import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { DeliverySlots } from './delivery-slots.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const QUICK = { durationMs: 5, answered: true };
const HANGING = { durationMs: 15_000, answered: false };

/** Takes all places that there are for a subscription. */
function fill(slots: DeliverySlots, webhookId = '1', accountId = '1'): number {
  const places = slots.hold(webhookId, accountId, 1_000);
  return places === 0 ? 0 : places + fill(slots, webhookId, accountId);
}

/** Makes calls that end like this, one after the other. */
async function call(slots: DeliverySlots, how: typeof QUICK, times = 1, webhookId = '1') {
  for (let made = 0; made < times; made += 1) {
    expect(slots.hold(webhookId, '1')).toBe(1);
    expect(await slots.start(webhookId, performance.now())).toBe(true);
    slots.end(webhookId, '1', how);
  }
}

it('begins with one call to a subscription, and another that waits', async () => {
  const slots = new DeliverySlots(400, 50);
  expect(fill(slots)).toBe(2);
  expect(await slots.start('1', performance.now())).toBe(true);
  const second = slots.start('1', performance.now());
  await vi.advanceTimersByTimeAsync(500);
  expect(await second).toBe(false);
});

it('gives a quick subscription one call more for each answer, and as many to wait', async () => {
  const slots = new DeliverySlots(400, 50);
  await call(slots, QUICK, 6);
  expect(fill(slots)).toBe(14);
});

it('never has more calls in flight to a subscription than its bound', async () => {
  const slots = new DeliverySlots(400, 5);
  await call(slots, QUICK, 20);
  expect(fill(slots)).toBe(10);
  const started: boolean[] = [];
  for (let n = 0; n < 10; n += 1)
    void slots.start('1', performance.now()).then((may) => started.push(may));
  await vi.advanceTimersByTimeAsync(0);
  expect(started).toHaveLength(5);
  slots.end('1', '1', QUICK);
  await vi.advanceTimersByTimeAsync(0);
  expect(started).toHaveLength(6);
});

it('goes down to a single call while a subscription hangs', async () => {
  const slots = new DeliverySlots(400, 50);
  await call(slots, QUICK, 8);
  await call(slots, HANGING, 4);
  expect(fill(slots)).toBe(1);
});

it('shrinks the cap of a subscription that takes long to answer', async () => {
  const slots = new DeliverySlots(400, 50);
  await call(slots, { durationMs: 5_000, answered: true }, 60);
  expect(fill(slots)).toBe(10);
});

it('lets a delivery wait half a second for an earlier call of its subscription, then gives it up', async () => {
  const slots = new DeliverySlots(400, 1);
  await call(slots, QUICK, 1);
  expect(fill(slots)).toBe(2);
  expect(await slots.start('1', performance.now())).toBe(true);
  const second = slots.start('1', performance.now());
  await vi.advanceTimersByTimeAsync(500);
  expect(await second).toBe(false);
});

it('starts nothing that waits once it is stopped', async () => {
  const slots = new DeliverySlots(400, 1);
  await call(slots, QUICK, 1);
  fill(slots);
  await slots.start('1', performance.now());
  const second = slots.start('1', performance.now());
  slots.stop();
  expect(await second).toBe(false);
});

it('starts nothing that was leased before its subscription was blocked', async () => {
  const slots = new DeliverySlots(400, 1);
  await call(slots, QUICK, 1);
  fill(slots);
  const leasedAt = performance.now();
  await slots.start('1', leasedAt);
  const waiting = slots.start('1', leasedAt);
  slots.block('1');
  expect(await waiting).toBe(false);
  slots.end('1', '1', QUICK);
  expect(await slots.start('1', leasedAt)).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(await slots.start('1', performance.now())).toBe(true);
});

it('leaves slots to other accounts beside one with very many subscriptions', () => {
  const slots = new DeliverySlots(400, 50);
  let held = 0;
  for (let id = 0; id < 1_000; id += 1) held += fill(slots, `webhook-${id}`, 'busy');
  expect(held).toBe(267);
  expect(fill(slots, 'healthy', 'other')).toBe(2);
});

it('keeps a reserve for a quick subscription beside hundreds that hang, each of another account', async () => {
  const slots = new DeliverySlots(400, 50);
  await call(slots, QUICK, 1, 'healthy');
  let held = 0;
  for (let id = 0; id < 1_000; id += 1) held += fill(slots, `hanging-${id}`, `account-${id}`);
  expect(held).toBe(350);
  expect(fill(slots, 'unknown', 'unknown')).toBe(0);
  expect(fill(slots, 'healthy', '1')).toBe(4);
});

it('keeps a slot for a quick subscription beside others of its account that took its share', async () => {
  const slots = new DeliverySlots(400, 50);
  await call(slots, QUICK, 1, 'healthy');
  for (let id = 0; id < 1_000; id += 1) fill(slots, `hanging-${id}`, '1');
  expect(fill(slots, 'healthy', '1')).toBe(4);
});

it('gives all slow subscriptions together half of the slots', async () => {
  const slots = new DeliverySlots(400, 50);
  for (let id = 0; id < 300; id += 1) await call(slots, HANGING, 1, `slow-${id}`);
  let held = 0;
  for (let id = 0; id < 300; id += 1) held += fill(slots, `slow-${id}`, `account-${id}`);
  expect(held).toBe(200);
});

it('gives a slow subscription one place at a time', async () => {
  const slots = new DeliverySlots(400, 50);
  await call(slots, { durationMs: 5_000, answered: true }, 20);
  expect([slots.hold('1', '1', 8), slots.hold('1', '1', 8)]).toEqual([1, 1]);
});

it('takes a subscription for slow as soon as a call has hung for a second', async () => {
  let now = 0;
  const slots = new DeliverySlots(8, 4, () => now);
  for (let id = 0; id < 4; id += 1) {
    expect(slots.hold(`hanging-${id}`, `account-${id}`)).toBe(1);
    await slots.start(`hanging-${id}`, performance.now());
  }
  expect(slots.hold('hanging-0', 'account-0')).toBe(1);
  now = 1_001;
  expect(slots.hold('hanging-0', 'account-0')).toBe(0);
  expect(slots.hold('unknown', 'unknown')).toBe(1);
});

it('sends tests at once, but no more of an account than an eighth of the free slots', () => {
  const slots = new DeliverySlots(400, 1);
  let tests = 0;
  while (slots.holdTest('1', 'busy')) tests += 1;
  expect(tests).toBe(45);
  expect(slots.holdTest('2', 'other')).toBe(true);
  expect(fill(slots, 'healthy', 'busy')).toBe(2);
  slots.endTest('1', 'busy', QUICK);
  expect(slots.holdTest('1', 'busy')).toBe(true);
});

it('lets a delivery from the queue in when there is a place, and tells of each that is given back', async () => {
  const slots = new DeliverySlots(2, 2);
  let room = 0;
  slots.onRoom = () => (room += 1);
  await slots.enter();
  await slots.enter();
  let entered = false;
  const third = slots.enter().then(() => (entered = true));
  await vi.advanceTimersByTimeAsync(0);
  expect(entered).toBe(false);
  expect(slots.entered(() => slots.hold('1', '1'))).toBe(1);
  expect(room).toBe(1);
  slots.entered(() => undefined);
  await third;
  slots.entered(() => undefined);
  slots.release('1', '1');
  expect(slots.free).toBe(2);
});

it('wants more of a subscription when half of what may wait has started', async () => {
  const slots = new DeliverySlots(400, 8);
  await call(slots, QUICK, 10);
  expect(fill(slots)).toBe(16);
  expect(slots.isHungry('1')).toBe(false);
  for (let n = 0; n < 4; n += 1) {
    await slots.start('1', performance.now());
    slots.end('1', '1', QUICK);
  }
  expect(slots.isHungry('1')).toBe(false);
  slots.release('1', '1');
  expect(slots.isHungry('1')).toBe(true);
});
