import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { CallLimiter } from './call-limiter.js';
import { DeliverySlots } from './delivery-slots.js';
import type { Slot } from './slot.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const QUICK = { durationMs: 5, answered: true };
const HANGING = { durationMs: 15_000, answered: false };

const owner = (webhookId = '1', accountId = '1', immediate = false) => ({
  webhookId,
  accountId,
  immediate,
});

function acquire(slots: DeliverySlots, webhookId = '1', accountId = '1', most = 1): Slot[] {
  return slots.acquire(owner(webhookId, accountId), most);
}

function acquireImmediate(slots: DeliverySlots, webhookId: string, accountId: string): Slot[] {
  return slots.acquire(owner(webhookId, accountId, true));
}

/** Acquires all slots available to a subscription. */
function fill(slots: DeliverySlots, webhookId = '1', accountId = '1'): Slot[] {
  const acquired = acquire(slots, webhookId, accountId, 1_000);
  return acquired.length === 0 ? [] : [...acquired, ...fill(slots, webhookId, accountId)];
}

const start = (slot: Slot | undefined) => slot!.start(performance.now());

/** Makes calls one after the other that all end the same way. */
async function call(slots: DeliverySlots, how: typeof QUICK, times = 1, webhookId = '1') {
  for (let made = 0; made < times; made += 1) {
    const [slot, ...others] = acquire(slots, webhookId);
    expect(others).toEqual([]);
    expect(await start(slot)).toBe(true);
    slot!.end(how);
  }
}

it('starts with one call to a subscription and one waiting delivery', async () => {
  const slots = new DeliverySlots(400, 50);
  const acquired = fill(slots);
  expect(acquired).toHaveLength(2);
  expect(await start(acquired[0])).toBe(true);
  const second = start(acquired[1]);
  await vi.advanceTimersByTimeAsync(500);
  expect(await second).toBe(false);
});

it('raises the cap of a quick subscription by one with each answer, and lets as many wait', async () => {
  const slots = new DeliverySlots(400, 50);
  await call(slots, QUICK, 6);
  expect(fill(slots)).toHaveLength(14);
});

it('never exceeds the bound of calls in flight to a subscription', async () => {
  const slots = new DeliverySlots(400, 5);
  await call(slots, QUICK, 20);
  const acquired = fill(slots);
  expect(acquired).toHaveLength(10);
  const started: boolean[] = [];
  for (const slot of acquired) void start(slot).then((may) => started.push(may));
  await vi.advanceTimersByTimeAsync(0);
  expect(started).toHaveLength(5);
  acquired[0]!.end(QUICK);
  await vi.advanceTimersByTimeAsync(0);
  expect(started).toHaveLength(6);
});

it('reduces the cap of a hanging subscription to one call', async () => {
  const slots = new DeliverySlots(400, 50);
  await call(slots, QUICK, 8);
  await call(slots, HANGING, 4);
  expect(fill(slots)).toHaveLength(1);
});

it('reduces the cap of a subscription that answers slowly', async () => {
  const slots = new DeliverySlots(400, 50);
  await call(slots, { durationMs: 5_000, answered: true }, 60);
  expect(fill(slots)).toHaveLength(10);
});

it('lets a delivery wait at most half a second for an earlier call of its subscription', async () => {
  const slots = new DeliverySlots(400, 1);
  await call(slots, QUICK, 1);
  const acquired = fill(slots);
  expect(acquired).toHaveLength(2);
  expect(await start(acquired[0])).toBe(true);
  const second = start(acquired[1]);
  await vi.advanceTimersByTimeAsync(500);
  expect(await second).toBe(false);
});

it('starts no waiting delivery once it is stopped', async () => {
  const slots = new DeliverySlots(400, 1);
  await call(slots, QUICK, 1);
  const [first, other] = fill(slots);
  await start(first);
  const second = start(other);
  slots.stop();
  expect(await second).toBe(false);
});

it('starts no delivery that was leased before its subscription was blocked', async () => {
  const slots = new DeliverySlots(400, 1);
  await call(slots, QUICK, 1);
  const [first, second] = fill(slots);
  const leasedAt = performance.now();
  await start(first);
  const waiting = start(second);
  first!.block();
  expect(await waiting).toBe(false);
  first!.end(QUICK);
  expect(await second!.start(leasedAt)).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(await start(second)).toBe(true);
});

it('leaves slots for other accounts when one has very many subscriptions', () => {
  const slots = new DeliverySlots(400, 50);
  let held = 0;
  for (let id = 0; id < 1_000; id += 1) held += fill(slots, `webhook-${id}`, 'busy').length;
  expect(held).toBe(267);
  expect(fill(slots, 'healthy', 'other')).toHaveLength(2);
});

it('reserves slots for a quick subscription while hundreds of other accounts hang', async () => {
  const slots = new DeliverySlots(400, 50);
  await call(slots, QUICK, 1, 'healthy');
  let held = 0;
  for (let id = 0; id < 1_000; id += 1)
    held += fill(slots, `hanging-${id}`, `account-${id}`).length;
  expect(held).toBe(350);
  expect(fill(slots, 'unknown', 'unknown')).toEqual([]);
  expect(fill(slots, 'healthy', '1')).toHaveLength(4);
});

it('reserves slots for a quick subscription when others use up the share of its account', async () => {
  const slots = new DeliverySlots(400, 50);
  await call(slots, QUICK, 1, 'healthy');
  for (let id = 0; id < 1_000; id += 1) fill(slots, `hanging-${id}`, '1');
  expect(fill(slots, 'healthy', '1')).toHaveLength(4);
});

it('leaves slots for other accounts when all of the quick subscriptions of one hang at once', async () => {
  const slots = new DeliverySlots(400, 50);
  const quick = Array.from({ length: 200 }, (_, id) => `quick-${id}`);
  for (const id of ['healthy', ...quick]) await call(slots, QUICK, 3, id);
  const freeze = () => quick.flatMap((id) => fill(slots, id, 'freezing'));
  const held = freeze();
  expect(held).toHaveLength(312);
  const healthy = fill(slots, 'healthy', 'other');
  expect(healthy).toHaveLength(8);
  for (const slot of [...held, ...healthy]) slot.release();
  expect(freeze()).toHaveLength(312);
});

it('limits all slow subscriptions together to half of the slots', async () => {
  const slots = new DeliverySlots(400, 50);
  for (let id = 0; id < 300; id += 1) await call(slots, HANGING, 1, `slow-${id}`);
  let held = 0;
  for (let id = 0; id < 300; id += 1) held += fill(slots, `slow-${id}`, `account-${id}`).length;
  expect(held).toBe(200);
});

it('gives a slow subscription one slot at a time', async () => {
  const slots = new DeliverySlots(400, 50);
  await call(slots, { durationMs: 5_000, answered: true }, 20);
  const taken = [1, 2].map(() => acquire(slots, '1', '1', 8).length);
  expect(taken).toEqual([1, 1]);
});

it('treats a subscription as slow once a call has hung for a second', async () => {
  let now = 0;
  const slots = new DeliverySlots(8, 4, undefined, () => now);
  for (let id = 0; id < 4; id += 1) {
    const [slot] = acquire(slots, `hanging-${id}`, `account-${id}`);
    await start(slot);
  }
  expect(acquire(slots, 'hanging-0', 'account-0')).toHaveLength(1);
  now = 1_001;
  expect(acquire(slots, 'hanging-0', 'account-0')).toEqual([]);
  expect(acquire(slots, 'unknown', 'unknown')).toHaveLength(1);
});

it('starts immediate deliveries at once, but no more of an account than an eighth of the free slots', async () => {
  const slots = new DeliverySlots(400, 1);
  const tests: Slot[] = [];
  for (let taken = acquireImmediate(slots, '1', 'busy'); taken.length > 0;) {
    tests.push(...taken);
    taken = acquireImmediate(slots, '1', 'busy');
  }
  expect(tests).toHaveLength(45);
  expect(acquireImmediate(slots, '2', 'other')).toHaveLength(1);
  expect(fill(slots, 'healthy', 'busy')).toHaveLength(2);
  expect(await Promise.all(tests.map(start))).not.toContain(false);
  tests[0]!.end(QUICK);
  expect(acquireImmediate(slots, '1', 'busy')).toHaveLength(1);
});

it('reserves a slot for a queued delivery when one is free, and tells when one is released', async () => {
  const slots = new DeliverySlots(2, 2);
  let released = 0;
  const first = await slots.reserve();
  const second = await slots.reserve();
  void slots.released().then(() => (released += 1));
  let isReserved = false;
  const third = slots.reserve().finally(() => (isReserved = true));
  expect(first.assign(owner())).toBe(true);
  await vi.advanceTimersByTimeAsync(0);
  expect([isReserved, released]).toEqual([false, 0]);
  second.release();
  await vi.advanceTimersByTimeAsync(0);
  (await third).release();
  await vi.advanceTimersByTimeAsync(0);
  expect(released).toBe(1);
  first.release();
  expect(slots.free).toBe(2);
});

it('releases a reserved slot if the limits leave none for its delivery', async () => {
  const slots = new DeliverySlots(8, 1);
  fill(slots);
  const slot = await slots.reserve();
  const released = slots.released();
  expect(slot.assign(owner())).toBe(false);
  await released;
  expect(slots.free).toBe(6);
});

it('lets a queued delivery wait for a slot outside the reserve, which quick targets soon release', async () => {
  const slots = new DeliverySlots(8, 8);
  const acquired = Array.from({ length: 7 }, (_, n) => acquire(slots, `${n}`, `${n}`)[0]);
  const reserving = slots.reserve();
  await vi.advanceTimersByTimeAsync(40);
  expect(slots.free).toBe(1);
  acquired[0]!.release();
  const slot = await reserving;
  expect(slots.free).toBe(1);
  expect(slot.assign(owner('7', '7'))).toBe(true);
});

it('gives queued deliveries slots of the reserve if no other is released for 50 ms, until one is', async () => {
  const slots = new DeliverySlots(16, 8);
  const taken: Slot[] = [];
  while (slots.free > 2) taken.push(await slots.reserve());
  let reserved = 0;
  const reserve = () =>
    void slots.reserve().then((slot) => {
      taken.push(slot);
      reserved += 1;
    });
  reserve();
  await vi.advanceTimersByTimeAsync(49);
  expect(reserved).toBe(0);
  await vi.advanceTimersByTimeAsync(2);
  reserve();
  await vi.advanceTimersByTimeAsync(0);
  expect([reserved, slots.free]).toEqual([2, 0]);
  for (const slot of taken.splice(0, 3)) slot.release();
  reserve();
  reserve();
  await vi.advanceTimersByTimeAsync(0);
  expect([reserved, slots.free]).toEqual([3, 2]);
});

it('keeps a slot outside the reserve for the queued delivery that got it', async () => {
  const slots = new DeliverySlots(8, 8);
  await call(slots, QUICK, 1, 'quick');
  const all = Array.from({ length: 6 }, (_, n) => acquire(slots, `${n}`, `${n}`)[0]);
  const slot = await slots.reserve();
  const [ofReserve] = acquire(slots, 'quick', 'quick');
  expect([all.length, slots.free, ofReserve]).toEqual([6, 0, expect.anything()]);
  expect(slot.assign(owner('7', '7'))).toBe(true);
});

it('gives a released slot to claims before queued deliveries, which get the next one', async () => {
  const slots = new DeliverySlots(1, 1);
  const first = await slots.reserve();
  const order: string[] = [];
  void slots.reserve().then(() => order.push('queued'));
  let claimed: Slot | undefined;
  void slots.released().then(() => {
    [claimed] = acquire(slots);
    order.push('claimed');
  });
  first.release();
  await vi.advanceTimersByTimeAsync(0);
  expect(order).toEqual(['claimed']);
  claimed!.release();
  await vi.advanceTimersByTimeAsync(0);
  expect(order).toEqual(['claimed', 'queued']);
});

it('assigns the last free slot to the delivery for which it is reserved', async () => {
  const slots = new DeliverySlots(1, 1);
  const slot = await slots.reserve();
  expect(acquire(slots)).toEqual([]);
  expect(slot.assign(owner())).toBe(true);
  expect(await start(slot)).toBe(true);
});

it('wants more of a subscription when fewer wait than half of its cap', async () => {
  const slots = new DeliverySlots(400, 8);
  await call(slots, QUICK, 10);
  const acquired = fill(slots);
  expect(acquired).toHaveLength(16);
  expect(slots.wantsMore('1')).toBe(false);
  for (const slot of acquired.splice(0, 4)) {
    await start(slot);
    slot.end(QUICK);
  }
  expect(slots.wantsMore('1')).toBe(false);
  acquired[0]!.release();
  expect(slots.wantsMore('1')).toBe(true);
});

it('remembers how quick a subscription is while another account calls thousands', async () => {
  const slots = new DeliverySlots(400, 50);
  await call(slots, QUICK, 10, 'quick');
  for (let n = 0; n < 12_000; n += 1) acquire(slots, String(n), 'busy')[0]!.release();
  expect(acquire(slots, 'quick', '1', 5)).toHaveLength(5);
});

it('takes back each slot once, assigned or reserved, however often it is released', async () => {
  const slots = new DeliverySlots(8, 4);
  const [slot] = acquire(slots);
  await start(slot);
  for (let n = 0; n < 3; n += 1) slot!.end(QUICK);
  const reserved = await slots.reserve();
  for (let n = 0; n < 3; n += 1) reserved.release();
  expect(slots.free).toBe(8);
  expect(reserved.assign(owner())).toBe(false);
  expect(fill(slots)).toHaveLength(4);
});

it('takes back a reserved slot whose assignment fails, and gives it to the next delivery', async () => {
  const slots = new DeliverySlots(1, 1);
  const slot = await slots.reserve();
  const next = slots.reserve();
  vi.spyOn(CallLimiter.prototype, 'isSlow', 'get').mockImplementationOnce(() => {
    throw new Error('broken');
  });
  expect(() => slot.assign(owner())).toThrow('broken');
  slot.release();
  (await next).release();
  expect(slots.free).toBe(1);
});

it('starts a waiting delivery when a call fails on our own side, and does not judge the target by it', async () => {
  const slots = new DeliverySlots(8, 4);
  const [first, second] = fill(slots);
  await start(first);
  const waiting = start(second);
  first!.release();
  expect(await waiting).toBe(true);
  second!.release();
  // The cap is still one call, with one waiting.
  expect(fill(slots)).toHaveLength(2);
});

it('takes back a slot although its clock fails', async () => {
  let fails = false;
  const slots = new DeliverySlots(8, 4, undefined, () => {
    if (fails) throw new Error('no clock');
    return 0;
  });
  const [slot] = acquire(slots);
  await start(slot);
  fails = true;
  expect(() => slot!.end(QUICK)).toThrow('no clock');
  fails = false;
  expect(slots.free).toBe(8);
  expect(fill(slots)).toHaveLength(2);
});
