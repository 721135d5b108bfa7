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

/** Takes all places available to a subscription. */
function fill(slots: DeliverySlots, webhookId = '1', accountId = '1'): number {
  const places = slots.acquire(webhookId, accountId, 1_000);
  return places === 0 ? 0 : places + fill(slots, webhookId, accountId);
}

/** Makes calls one after the other that all end the same way. */
async function call(slots: DeliverySlots, how: typeof QUICK, times = 1, webhookId = '1') {
  for (let made = 0; made < times; made += 1) {
    expect(slots.acquire(webhookId, '1')).toBe(1);
    expect(await slots.start(webhookId, performance.now())).toBe(true);
    slots.end(webhookId, '1', how);
  }
}

it('starts with one call to a subscription and one waiting delivery', async () => {
  const slots = new DeliverySlots(400, 50);
  expect(fill(slots)).toBe(2);
  expect(await slots.start('1', performance.now())).toBe(true);
  const second = slots.start('1', performance.now());
  await vi.advanceTimersByTimeAsync(500);
  expect(await second).toBe(false);
});

it('raises the cap of a quick subscription by one with each answer, and lets as many wait', async () => {
  const slots = new DeliverySlots(400, 50);
  await call(slots, QUICK, 6);
  expect(fill(slots)).toBe(14);
});

it('never exceeds the bound of calls in flight to a subscription', async () => {
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

it('reduces the cap of a hanging subscription to one call', async () => {
  const slots = new DeliverySlots(400, 50);
  await call(slots, QUICK, 8);
  await call(slots, HANGING, 4);
  expect(fill(slots)).toBe(1);
});

it('reduces the cap of a subscription that answers slowly', async () => {
  const slots = new DeliverySlots(400, 50);
  await call(slots, { durationMs: 5_000, answered: true }, 60);
  expect(fill(slots)).toBe(10);
});

it('lets a delivery wait at most half a second for an earlier call of its subscription', async () => {
  const slots = new DeliverySlots(400, 1);
  await call(slots, QUICK, 1);
  expect(fill(slots)).toBe(2);
  expect(await slots.start('1', performance.now())).toBe(true);
  const second = slots.start('1', performance.now());
  await vi.advanceTimersByTimeAsync(500);
  expect(await second).toBe(false);
});

it('starts no waiting delivery once it is stopped', async () => {
  const slots = new DeliverySlots(400, 1);
  await call(slots, QUICK, 1);
  fill(slots);
  await slots.start('1', performance.now());
  const second = slots.start('1', performance.now());
  slots.stop();
  expect(await second).toBe(false);
});

it('starts no delivery that was leased before its subscription was blocked', async () => {
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

it('leaves slots for other accounts when one has very many subscriptions', () => {
  const slots = new DeliverySlots(400, 50);
  let held = 0;
  for (let id = 0; id < 1_000; id += 1) held += fill(slots, `webhook-${id}`, 'busy');
  expect(held).toBe(267);
  expect(fill(slots, 'healthy', 'other')).toBe(2);
});

it('reserves slots for a quick subscription while hundreds of other accounts hang', async () => {
  const slots = new DeliverySlots(400, 50);
  await call(slots, QUICK, 1, 'healthy');
  let held = 0;
  for (let id = 0; id < 1_000; id += 1) held += fill(slots, `hanging-${id}`, `account-${id}`);
  expect(held).toBe(350);
  expect(fill(slots, 'unknown', 'unknown')).toBe(0);
  expect(fill(slots, 'healthy', '1')).toBe(4);
});

it('reserves slots for a quick subscription when others use up the share of its account', async () => {
  const slots = new DeliverySlots(400, 50);
  await call(slots, QUICK, 1, 'healthy');
  for (let id = 0; id < 1_000; id += 1) fill(slots, `hanging-${id}`, '1');
  expect(fill(slots, 'healthy', '1')).toBe(4);
});

it('limits all slow subscriptions together to half of the slots', async () => {
  const slots = new DeliverySlots(400, 50);
  for (let id = 0; id < 300; id += 1) await call(slots, HANGING, 1, `slow-${id}`);
  let held = 0;
  for (let id = 0; id < 300; id += 1) held += fill(slots, `slow-${id}`, `account-${id}`);
  expect(held).toBe(200);
});

it('gives a slow subscription one place at a time', async () => {
  const slots = new DeliverySlots(400, 50);
  await call(slots, { durationMs: 5_000, answered: true }, 20);
  expect([slots.acquire('1', '1', 8), slots.acquire('1', '1', 8)]).toEqual([1, 1]);
});

it('treats a subscription as slow once a call has hung for a second', async () => {
  let now = 0;
  const slots = new DeliverySlots(8, 4, () => now);
  for (let id = 0; id < 4; id += 1) {
    expect(slots.acquire(`hanging-${id}`, `account-${id}`)).toBe(1);
    await slots.start(`hanging-${id}`, performance.now());
  }
  expect(slots.acquire('hanging-0', 'account-0')).toBe(1);
  now = 1_001;
  expect(slots.acquire('hanging-0', 'account-0')).toBe(0);
  expect(slots.acquire('unknown', 'unknown')).toBe(1);
});

it('sends tests at once, but no more of an account than an eighth of the free slots', () => {
  const slots = new DeliverySlots(400, 1);
  let tests = 0;
  while (slots.acquireTest('1', 'busy')) tests += 1;
  expect(tests).toBe(45);
  expect(slots.acquireTest('2', 'other')).toBe(true);
  expect(fill(slots, 'healthy', 'busy')).toBe(2);
  slots.endTest('1', 'busy', QUICK);
  expect(slots.acquireTest('1', 'busy')).toBe(true);
});

it('admits a queued delivery when a place is free, and notifies of each released place', async () => {
  const slots = new DeliverySlots(2, 2);
  let room = 0;
  slots.onRoom = () => (room += 1);
  await slots.enter();
  await slots.enter();
  let entered = false;
  const third = slots.enter().then(() => (entered = true));
  await vi.advanceTimersByTimeAsync(0);
  expect(entered).toBe(false);
  expect(slots.entered(() => slots.acquire('1', '1'))).toBe(1);
  expect(room).toBe(1);
  slots.entered(() => undefined);
  await third;
  slots.entered(() => undefined);
  slots.release('1', '1');
  expect(slots.free).toBe(2);
});

it('wants more of a subscription when fewer wait than half of its cap', async () => {
  const slots = new DeliverySlots(400, 8);
  await call(slots, QUICK, 10);
  expect(fill(slots)).toBe(16);
  expect(slots.wantsMore('1')).toBe(false);
  for (let n = 0; n < 4; n += 1) {
    await slots.start('1', performance.now());
    slots.end('1', '1', QUICK);
  }
  expect(slots.wantsMore('1')).toBe(false);
  slots.release('1', '1');
  expect(slots.wantsMore('1')).toBe(true);
});
