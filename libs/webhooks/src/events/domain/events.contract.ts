import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { EVERY_ACCOUNT, type Page } from '#libs/kernel';
import type { Delivery, DeliveryStore } from '../../deliveries/domain/delivery.js';
import type { EventFilter, EventReader, EventStore, ReportedEvent } from './event.js';

/** A store of events under test, and its reader. */
export interface EventsUnderTest {
  store: () => EventStore;
  reader: () => EventReader;
  /** The log of their deliveries. */
  deliveries: () => DeliveryStore;
  /** @returns the id of a new account with so many subscriptions to all its events */
  anAccount: (subscriptions?: number) => Promise<string>;
}

/** What every implementation of {@link EventStore} and {@link EventReader} must do. */
export function eventsContract({ store, reader, deliveries, anAccount }: EventsUnderTest): void {
  const anEvent = (accountId: string, fields: Partial<ReportedEvent> = {}): ReportedEvent => ({
    event: 'cdrCreated',
    resource: 'call',
    accountId,
    data: '{"n": 1.0}',
    ...fields,
  });
  /** @returns the id */
  async function accepted(event: ReportedEvent): Promise<string> {
    const [result] = await store().accept([event]);
    if (!result || !('id' in result)) throw new Error('not accepted');
    return result.id;
  }

  it('answers in the order of the events, and refuses one of an unknown account', async () => {
    const account = await anAccount();
    const results = await store().accept([
      anEvent(account, { producerId: 'a' }),
      anEvent('999999999'),
      anEvent(account, { producerId: 'b' }),
    ]);
    const fresh = { accepted: true, duplicate: false, deliveries: 0 };
    expect(results).toMatchObject([fresh, { accepted: false, refusal: 'unknown_account' }, fresh]);
    const { rows } = await reader().list(account, {}, { limit: 10 });
    expect(new Set(rows.map(({ id }) => id))).toEqual(
      new Set(results.flatMap((result) => ('id' in result ? [result.id] : []))),
    );
  });

  it("answers a repeated key of an account's kind of event with the first event", async () => {
    const [account, other] = [await anAccount(), await anAccount()];
    const key = { producerId: 'same' };
    const first = await accepted(anEvent(account, key));
    const [repeat] = await store().accept([anEvent(account, key)]);
    expect(repeat).toEqual({ accepted: true, id: first, duplicate: true, deliveries: 0 });
    const others = [
      await accepted(anEvent(other, key)),
      await accepted(anEvent(account, { ...key, event: 'cdrRated' })),
      await accepted(anEvent(account)),
      await accepted(anEvent(account)),
    ];
    expect(new Set([first, ...others]).size).toBe(5);
  });

  it('finds an event as it was reported, for its account or for any', async () => {
    const [account, other] = [await anAccount(), await anAccount()];
    const occurredAt = new Date('2026-11-21T12:00:00Z');
    const event = anEvent(account, { producerId: 'found', occurredAt });
    const id = await accepted(event);
    expect(await reader().find(id, account)).toMatchObject({ ...event, id, test: false });
    expect(await reader().find(id, EVERY_ACCOUNT)).toMatchObject({ id });
    expect(await reader().find(id, other)).toBeUndefined();
    expect(await reader().find(randomUUID(), account)).toBeUndefined();
  });

  it('lists events, newest first, page by page and filtered', async () => {
    const [account, other] = [await anAccount(), await anAccount()];
    const sms = await accepted(anEvent(account, { event: 'smsdlr', resource: 'sms' }));
    const call = await accepted(anEvent(account, { producerId: 'mine' }));
    const last = await accepted(anEvent(account));
    await accepted(anEvent(other));
    const listed = async (filter: EventFilter, page = {}) =>
      (await reader().list(account, filter, { limit: 10, ...page })).rows.map(({ id }) => id);
    expect(await listed({})).toEqual([last, call, sms]);
    expect(await listed({}, { limit: 1, after: last })).toEqual([call]);
    expect(await listed({ event: 'smsdlr' })).toEqual([sms]);
    expect(await listed({ resource: 'call' })).toEqual([last, call]);
    expect(await listed({ producerId: 'mine' })).toEqual([call]);
    expect(await listed({ applicationId: '1' })).toEqual([]);
    const before = new Date(Date.now() - 60_000);
    expect(await listed({ until: before })).toEqual([]);
    expect(await listed({ since: before })).toEqual([last, call, sms]);
  });

  it('lists the events whose data contain a text, as it was sent', async () => {
    const account = await anAccount();
    const [first, second, third] = [
      await accepted(anEvent(account, { data: '{"call": "50%_\\u00e9"}' })),
      await accepted(anEvent(account, { data: '{"call":"50%x\\u00e9"}', event: 'smsdlr' })),
      await accepted(anEvent(account, { data: '{"call": "Call"}' })),
    ];
    await accepted(anEvent(await anAccount(), { data: '{"call": "50%_"}' }));
    const listed = async (filter: EventFilter, page = {}) =>
      (await reader().list(account, filter, { limit: 10, ...page })).rows.map(({ id }) => id);
    expect(await listed({ contains: '50%' })).toEqual([second, first]);
    expect(await listed({ contains: '50%' }, { limit: 1 })).toEqual([second]);
    expect(await listed({ contains: '50%' }, { after: second })).toEqual([first]);
    expect(await listed({ contains: '50%', event: 'cdrCreated' })).toEqual([first]);
    expect(await listed({ contains: '50%_' })).toEqual([first]);
    expect(await listed({ contains: '\\u00e9"}' })).toEqual([second, first]);
    expect(await listed({ contains: 'é' })).toEqual([]);
    expect(await listed({ contains: 'Call' })).toEqual([third]);
    const all = await reader().list(EVERY_ACCOUNT, { contains: '"Call"' }, { limit: 1_000 });
    expect(all.rows.map(({ id }) => id)).toContain(third);
  });

  it('lists the events that matched no subscription, or those that did', async () => {
    for (const [account, event] of [
      [await anAccount(), 'none'],
      [await anAccount(1), 'one'],
    ] as const) {
      const id = await accepted(anEvent(account, { producerId: event }));
      const unmatched = event === 'none';
      expect((await reader().list(account, { unmatched }, { limit: 10 })).rows).toMatchObject([
        { id },
      ]);
      expect((await reader().list(account, { unmatched: !unmatched }, { limit: 10 })).rows).toEqual(
        [],
      );
      const all = await reader().list(EVERY_ACCOUNT, { unmatched }, { limit: 1_000 });
      expect(all.rows.map((each) => each.id)).toContain(id);
    }
  });

  it('delivers an event to each subscription of its account, once', async () => {
    const account = await anAccount(2);
    const event = anEvent(account, { producerId: 'once' });
    const [first] = await store().accept([event]);
    const [repeat] = await store().accept([event]);
    expect(first).toMatchObject({ duplicate: false, deliveries: 2 });
    const { id: eventId } = first as { id: string };
    expect(repeat).toEqual({ accepted: true, id: eventId, duplicate: true, deliveries: 2 });
    const read = async (of: Page) => (await deliveries().list(account, { eventId }, of)).rows;
    const rows = await read({ limit: 10 });
    expect(rows).toMatchObject([{ eventId }, { eventId }]);
    const [newest, oldest] = rows as [Delivery, Delivery];
    expect(newest.webhookId).not.toBe(oldest.webhookId);
    const other = await deliveries().list(
      EVERY_ACCOUNT,
      { eventId: await accepted(anEvent(account)) },
      { limit: 10 },
    );
    expect(other.rows.map(({ id }) => id)).not.toContain(newest.id);
    expect(await read({ limit: 1 })).toMatchObject([{ id: newest.id }]);
    expect(await read({ limit: 1, after: newest.id })).toMatchObject([{ id: oldest.id }]);
    expect(await read({ limit: 1, after: oldest.id })).toEqual([]);
    expect(await reader().deliveryIdsOf(eventId, [oldest.webhookId, '999999999'])).toEqual(
      new Map([[oldest.webhookId, oldest.id]]),
    );
  });
}
