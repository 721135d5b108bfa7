import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { EVERY_ACCOUNT, type Scope } from '#libs/kernel';
import type { DeliveryFilter, DeliveryStore, StoredState, WantedDeliveries } from './delivery.js';

/** A log of deliveries under test. */
export interface DeliveriesUnderTest {
  store: () => DeliveryStore;
  /** A new subscription. @param ofAccount by default a new account */
  aSubscription: (ofAccount?: string) => Promise<{ accountId: string; webhookId: string }>;
  switchOff: (webhookId: string) => Promise<void>;
  /** @returns the id of a new delivery */
  aDelivery: (webhookId: string, state: StoredState) => Promise<string>;
  /** Gives the event of a delivery a producer's key and data. */
  reported: (deliveryId: string, producerId: string, data: string) => Promise<void>;
  /** Records attempts, numbered from 1, with these statuses. */
  attempted: (deliveryId: string, statuses: number[]) => Promise<void>;
}

/** What every implementation of {@link DeliveryStore} must do. */
export function deliveryStoreContract(underTest: DeliveriesUnderTest): void {
  const { store, aSubscription, switchOff, aDelivery, attempted, reported } = underTest;

  it('finds a delivery for its account or for any account, but not for another', async () => {
    const { accountId, webhookId } = await aSubscription();
    const id = await aDelivery(webhookId, 'pending');
    expect(await store().find(id, accountId)).toMatchObject({
      ...{ id, webhookId, event: 'cdrCreated', resource: 'call' },
      ...{ state: 'pending', attempts: 0, test: false },
    });
    expect(await store().find(id, (await aSubscription()).accountId)).toBeUndefined();
    expect(await store().find(id, EVERY_ACCOUNT)).toMatchObject({ id, webhookId });
    expect(await store().find(randomUUID(), accountId)).toBeUndefined();
  });

  it('finds deliveries by their ids and by their events, each once', async () => {
    const { accountId, webhookId } = await aSubscription();
    const [one, other] = [
      await aDelivery(webhookId, 'pending'),
      await aDelivery(webhookId, 'succeeded'),
    ];
    await aDelivery(webhookId, 'pending');
    const { eventId } = (await store().find(other, accountId))!;
    const found = async (of: Scope, wanted: WantedDeliveries) =>
      (await store().findAll(of, wanted)).map(({ id }) => id).sort();
    const both = { ids: [one, other, randomUUID()], eventIds: [eventId, randomUUID()] };
    expect(await found(accountId, both)).toEqual([one, other].sort());
    expect(await found(EVERY_ACCOUNT, { eventIds: [eventId] })).toEqual([other]);
    expect(await found((await aSubscription()).accountId, both)).toEqual([]);
    expect(await found(accountId, {})).toEqual([]);
  });

  it("lists a subscription's deliveries, newest first, page by page and by state", async () => {
    const { webhookId } = await aSubscription();
    const ids: string[] = [];
    for (const state of ['succeeded', 'pending', 'succeeded'] as const) {
      ids.unshift(await aDelivery(webhookId, state));
    }
    await aDelivery((await aSubscription()).webhookId, 'succeeded');
    const webhook = { id: webhookId, createdAt: new Date(Date.now() - 60_000) };
    const listed = async (filter: DeliveryFilter, page = {}) =>
      (await store().list(EVERY_ACCOUNT, { webhook, ...filter }, { limit: 10, ...page })).rows.map(
        ({ id }) => id,
      );
    expect(await listed({})).toEqual(ids);
    expect(await listed({}, { limit: 1, after: ids[0] })).toEqual([ids[1]]);
    expect(await listed({ state: 'succeeded' })).toEqual([ids[0], ids[2]]);
    expect(await listed({ state: 'unknown' })).toEqual([]);
    expect(await listed({ event: 'smsdlr' })).toEqual([]);
    expect(await listed({ until: webhook.createdAt })).toEqual([]);
    expect(await listed({ since: webhook.createdAt })).toEqual(ids);
  });

  it("lists an account's deliveries, newest first, by subscription and by the last result", async () => {
    const { accountId, webhookId } = await aSubscription();
    const failed = await aDelivery(webhookId, 'exhausted');
    await attempted(failed, [200, 503]);
    const succeeded = await aDelivery(webhookId, 'succeeded');
    await attempted(succeeded, [500, 204]);
    const waiting = await aDelivery(webhookId, 'pending');
    const other = await aSubscription();
    await aDelivery(other.webhookId, 'succeeded');
    const listed = async (filter: DeliveryFilter, page = {}) =>
      (await store().list(accountId, filter, { limit: 10, ...page })).rows.map(({ id }) => id);
    expect(await listed({})).toEqual([waiting, succeeded, failed]);
    expect(await listed({}, { limit: 1, after: waiting })).toEqual([succeeded]);
    expect(await listed({ webhook: { id: webhookId } })).toEqual([waiting, succeeded, failed]);
    expect(await listed({ webhook: { id: other.webhookId } })).toEqual([]);
    expect(await listed({ state: 'pending' })).toEqual([waiting]);
    expect(await listed({ status: '503' })).toEqual([failed]);
    expect(await listed({ status: '5xx' })).toEqual([failed]);
    expect(await listed({ status: 'failed' })).toEqual([failed]);
    expect(await listed({ status: '2xx' })).toEqual([succeeded]);
    expect(await listed({ status: 'timeout' })).toEqual([]);
    const { rows } = await store().list(accountId, {}, { limit: 10 });
    expect(rows.map(({ lastAttempt }) => lastAttempt?.status)).toEqual([undefined, 204, 503]);
    expect((await store().find(failed, accountId))?.lastAttempt?.status).toBe(503);
    const everybody = await store().list(EVERY_ACCOUNT, {}, { limit: 2 });
    expect(everybody.rows.map(({ webhookId: of }) => of)).toEqual([other.webhookId, webhookId]);
  });

  it("lists deliveries by their event's key, and by a text in its data", async () => {
    const { accountId, webhookId } = await aSubscription();
    const other = await aSubscription();
    const theirs = await aDelivery(other.webhookId, 'succeeded');
    await reported(theirs, 'key', '{"call": "50%_\\u00e9"}');
    const ids: string[] = [];
    for (const data of ['{"call": "50%_\\u00e9"}', '{"call":"50%x\\u00e9"}', '{"call": "Call"}']) {
      ids.unshift(await aDelivery(webhookId, 'succeeded'));
      await reported(ids[0]!, ids.length === 1 ? 'key' : `key-${ids.length}`, data);
    }
    const [third, second, first] = ids;
    const listed = async (filter: DeliveryFilter, page = {}) =>
      (await store().list(accountId, filter, { limit: 10, ...page })).rows.map(({ id }) => id);
    const webhook = { id: webhookId };
    for (const of of [{}, { webhook }, { webhook, state: 'succeeded' }]) {
      expect(await listed({ ...of, producerId: 'key' })).toEqual([first]);
      expect(await listed({ ...of, contains: '50%' })).toEqual([second, first]);
      expect(await listed({ ...of, contains: '50%_' })).toEqual([first]);
      expect(await listed({ ...of, contains: '\\u00e9"}' })).toEqual([second, first]);
      expect(await listed({ ...of, contains: 'Call' })).toEqual([third]);
      expect(await listed({ ...of, contains: '50%', producerId: 'key-2' })).toEqual([second]);
    }
    expect(await listed({ contains: '50%' }, { limit: 1, after: second })).toEqual([first]);
    expect(await listed({ producerId: 'key' }, { after: first })).toEqual([]);
    expect(await listed({ producerId: 'unknown' })).toEqual([]);
    expect(await listed({ contains: 'é' })).toEqual([]);
    const everybody = await store().list(EVERY_ACCOUNT, { producerId: 'key' }, { limit: 10 });
    expect(everybody.rows.map(({ id }) => id)).toEqual([first, theirs]);
    expect(await listed({ webhook: { id: other.webhookId }, producerId: 'key' })).toEqual([]);
  });

  it('reads attempts by number, after a given one', async () => {
    const id = await aDelivery((await aSubscription()).webhookId, 'succeeded');
    expect(await store().attemptsOf(id, 0, 10)).toEqual([]);
    await attempted(id, [500, 503, 200]);
    const read = async (after: number, limit: number) =>
      (await store().attemptsOf(id, after, limit)).map(({ number, status }) => [number, status]);
    expect(await read(0, 2)).toEqual([
      [1, 500],
      [2, 503],
    ]);
    expect(await read(2, 10)).toEqual([[3, 200]]);
  });

  it.each(['succeeded', 'exhausted', 'cancelled'] as const)(
    'redelivers one that is %s, once',
    async (state) => {
      const { accountId, webhookId } = await aSubscription();
      const id = await aDelivery(webhookId, state);
      expect(await store().redeliver(id)).toBe(true);
      expect(await store().find(id, accountId)).toMatchObject({ state: 'pending' });
      expect(await store().redeliver(id)).toBe(false);
    },
  );

  it('sends only an unfinished delivery now, and any number of times', async () => {
    const { accountId, webhookId } = await aSubscription();
    const id = await aDelivery(webhookId, 'pending');
    for (let times = 0; times < 2; times += 1) {
      expect(await store().sendNow(id)).toBe(true);
      const { nextAttemptAt } = (await store().find(id, accountId))!;
      expect(nextAttemptAt!.getTime()).toBeLessThan(Date.now() + 1_000);
    }
    expect(await store().sendNow(await aDelivery(webhookId, 'exhausted'))).toBe(false);
    await switchOff(webhookId);
    expect(await store().sendNow(id)).toBe(false);
  });

  it('creates the delivery of an event that a subscription has missed, once', async () => {
    const { accountId, webhookId } = await aSubscription();
    const { eventId } = (await store().find(await aDelivery(webhookId, 'succeeded'), accountId))!;
    const later = (await aSubscription(accountId)).webhookId;
    const id = await store().create(eventId, later);
    const created = { eventId, webhookId: later, state: 'pending', attempts: 0 };
    expect(await store().find(id!, accountId)).toMatchObject(created);
    expect(await store().create(eventId, later)).toBeUndefined();
    const off = (await aSubscription(accountId)).webhookId;
    await switchOff(off);
    expect(await store().create(eventId, off)).toBeUndefined();
  });

  it('redelivers and tests nothing while the subscription is disabled', async () => {
    const { webhookId } = await aSubscription();
    const id = await aDelivery(webhookId, 'exhausted');
    await switchOff(webhookId);
    expect(await store().redeliver(id)).toBe(false);
    const test = { webhookId, resource: 'call', data: '{}' };
    expect(await store().createTest(test)).toBeUndefined();
  });

  it('cancels only an unfinished delivery', async () => {
    const { accountId, webhookId } = await aSubscription();
    const id = await aDelivery(webhookId, 'pending');
    expect(await store().cancel(id)).toBe(true);
    const cancelled = { state: 'cancelled', reason: 'requested' };
    expect(await store().find(id, accountId)).toMatchObject(cancelled);
    expect(await store().cancel(id)).toBe(false);
    expect(await store().cancel(await aDelivery(webhookId, 'succeeded'))).toBe(false);
  });

  it('stores a test and its delivery', async () => {
    const { accountId, webhookId } = await aSubscription();
    const id = await store().createTest({ webhookId, resource: 'sms', data: '{}' });
    const test = { state: 'pending', resource: 'sms', test: true };
    expect(await store().find(id!, accountId)).toMatchObject(test);
  });
}
