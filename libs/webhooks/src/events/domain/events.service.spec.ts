import { beforeEach, expect, it } from 'vitest';
import { EVERY_ACCOUNT, NotFoundError, type Scope, ValidationError } from '#libs/kernel';
import { SubscriptionInactiveError } from '../../deliveries/domain/deliveries.service.js';
import { MAX_ADDED } from '../../deliveries/domain/delivery.js';
import { FakeDeliveryStore } from '../../deliveries/domain/delivery-store.fake.js';
import { aContent, webhooksOnFakes } from '../../subscriptions/domain/webhooks.fake.js';
import { FakeEventReader, FakeEventStore } from './events.fake.js';
import {
  DeliveryExistsError,
  DeliveryLimitReachedError,
  EventNotMatchingError,
  EventsService,
} from './events.service.js';

const ACCOUNT = '1';
const UNKNOWN = '019a0b1c-2d3e-7f40-8a51-b26c73d84e95';

let fakes: ReturnType<typeof webhooksOnFakes>;
let store: FakeEventStore;
let deliveries: FakeDeliveryStore;
let events: EventsService;

beforeEach(() => {
  fakes = webhooksOnFakes();
  deliveries = new FakeDeliveryStore();
  store = new FakeEventStore(deliveries);
  store.accounts.set(ACCOUNT, []);
  const { webhooks, transactions, audit, activity } = fakes;
  const reader = new FakeEventReader(store);
  events = new EventsService(store, reader, webhooks, deliveries, transactions, audit, activity);
});

/** @returns the id of a new event */
async function anEvent(): Promise<string> {
  const event = { event: 'cdrCreated', resource: 'call', accountId: ACCOUNT, data: '{}' } as const;
  const [result] = await events.accept([event]);
  return (result as { id: string }).id;
}

const aWebhook = (fields = {}) => fakes.webhooks.create({ accountId: ACCOUNT }, aContent(fields));

it('shows an event only to its account and to the platform', async () => {
  const id = await anEvent();
  for (const account of [ACCOUNT, EVERY_ACCOUNT]) {
    expect((await events.show(id, account)).event).toMatchObject({ id, accountId: ACCOUNT });
    expect((await events.list(account, {}, { limit: 10 })).rows).toHaveLength(1);
  }
  await expect(events.deliveriesOf(id, '2')).rejects.toThrow(NotFoundError);
  await expect(events.show(id, '2')).rejects.toThrow(NotFoundError);
  expect((await events.list('2', {}, { limit: 10 })).rows).toEqual([]);
  for (const unknown of [UNKNOWN, 'x']) {
    await expect(events.deliveriesOf(unknown, EVERY_ACCOUNT)).rejects.toThrow(NotFoundError);
    await expect(events.show(unknown, EVERY_ACCOUNT)).rejects.toThrow(NotFoundError);
  }
});

it('shows the deliveries of an event, and why other subscriptions have none', async () => {
  const [told, off, other] = [
    await aWebhook(),
    await aWebhook({ enabled: false }),
    await aWebhook({ event: 'smsdlr' }),
  ];
  store.accounts.set(ACCOUNT, [told]);
  const id = await anEvent();
  const shown = await events.show(id, ACCOUNT);
  const read = await events.deliveriesOf(id, ACCOUNT);
  for (const deliveries of [shown.deliveries, read]) {
    const page = { limit: 10 };
    expect(await deliveries(page)).toMatchObject({ rows: [{ eventId: id, webhookId: told }] });
  }
  expect(shown).toMatchObject({
    unmatched: [
      { webhookId: off, reason: 'disabled' },
      { webhookId: other, reason: 'other_event' },
    ],
  });
});

it('counts no subscription as left out of a notice about itself', async () => {
  const [about, left] = [
    await aWebhook({ event: 'webhookFailing' }),
    await aWebhook({ event: 'webhookFailing', enabled: false }),
  ];
  const id = await anEvent();
  const data = JSON.stringify({ webhookId: about });
  Object.assign(store.all[0]!, { event: 'webhookFailing', resource: 'all', data });
  expect((await events.show(id, ACCOUNT)).unmatched).toEqual([
    { webhookId: left, reason: 'disabled' },
  ]);
});

it('counts no subscription as left out of a test', async () => {
  await aWebhook({ event: 'smsdlr' });
  const id = await anEvent();
  store.all[0]!.test = true;
  expect((await events.show(id, ACCOUNT)).unmatched).toEqual([]);
});

it('lists the events that a subscription has missed', async () => {
  const [told, untold] = [await anEvent(), await anEvent()];
  const later = await aWebhook();
  store.deliveries.push(deliveries.deliver(later, { eventId: told }));
  const missed = async (account: Scope, missedBy: string, filter = {}) =>
    (await events.list(account, { ...filter, missedBy }, { limit: 10 })).rows.map(({ id }) => id);
  expect(await missed(ACCOUNT, later)).toEqual([untold]);
  expect(await missed(EVERY_ACCOUNT, later)).toEqual([untold]);
  expect(await missed(ACCOUNT, await aWebhook({ event: 'smsdlr' }))).toEqual([]);
  expect(await missed(ACCOUNT, await aWebhook({ enabled: false }))).toEqual([untold, told]);
  for (const unknown of ['999', 'x', '0']) expect(await missed(ACCOUNT, unknown)).toEqual([]);
  expect(await missed('2', later)).toEqual([]);
});

it('sends a missed event to a subscription, and records it', async () => {
  const id = await anEvent();
  const later = await aWebhook();
  deliveries.subscriptions.set(later, { accountId: ACCOUNT, enabled: true });
  const delivery = await events.deliver(ACCOUNT, id, later);
  expect(await deliveries.find(delivery, ACCOUNT)).toMatchObject({ eventId: id, webhookId: later });
  expect(fakes.audit.entries.at(-1)).toMatchObject({
    action: 'delivery.create',
    resourceId: delivery,
    accountId: ACCOUNT,
  });
  store.deliveries.push((await deliveries.find(delivery, ACCOUNT))!);
  await expect(events.deliver(ACCOUNT, id, later)).rejects.toThrow(DeliveryExistsError);
});

it('sends an event to at most 100 subscriptions that it had not matched', async () => {
  const id = await anEvent();
  const send = async () => {
    const later = await aWebhook();
    deliveries.subscriptions.set(later, { accountId: ACCOUNT, enabled: true });
    return events.deliver(ACCOUNT, id, later);
  };
  store.all[0]!.added = MAX_ADDED - 1;
  await send();
  store.all[0]!.added = MAX_ADDED;
  await expect(send()).rejects.toThrow(DeliveryLimitReachedError);
});

it('sends no event to a subscription that is disabled, not for it, or of another account', async () => {
  const id = await anEvent();
  const send = async (fields: object) => events.deliver(ACCOUNT, id, await aWebhook(fields));
  await expect(send({ enabled: false })).rejects.toThrow(SubscriptionInactiveError);
  await expect(send({ event: 'smsdlr' })).rejects.toThrow(EventNotMatchingError);
  const [own, other] = [
    await aWebhook(),
    await fakes.webhooks.create({ accountId: '2' }, aContent()),
  ];
  await expect(events.deliver(ACCOUNT, id, other)).rejects.toThrow(ValidationError);
  await expect(events.deliver('2', id, other)).rejects.toThrow(NotFoundError);
  await expect(events.deliver(ACCOUNT, UNKNOWN, own)).rejects.toThrow(NotFoundError);
});
