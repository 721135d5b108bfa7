import { beforeEach, expect, it } from 'vitest';
import { NotFoundError } from '#libs/kernel';
import { aContent, webhooksOnFakes } from '../../subscriptions/domain/webhooks.fake.js';
import { FakeEventReader, FakeEventStore } from './events.fake.js';
import { EventsService } from './events.service.js';

const ACCOUNT = '1';
const UNKNOWN = '019a0b1c-2d3e-7f40-8a51-b26c73d84e95';

let fakes: ReturnType<typeof webhooksOnFakes>;
let store: FakeEventStore;
let events: EventsService;

beforeEach(() => {
  fakes = webhooksOnFakes();
  store = new FakeEventStore();
  store.accounts.set(ACCOUNT, []);
  events = new EventsService(store, new FakeEventReader(store), fakes.webhooks);
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
  for (const account of [ACCOUNT, undefined]) {
    expect((await events.show(id, account)).event).toMatchObject({ id, accountId: ACCOUNT });
    expect((await events.list(account, {}, { limit: 10 })).rows).toHaveLength(1);
  }
  await expect(events.show(id, '2')).rejects.toThrow(NotFoundError);
  expect((await events.list('2', {}, { limit: 10 })).rows).toEqual([]);
  for (const unknown of [UNKNOWN, 'x']) {
    await expect(events.show(unknown, undefined)).rejects.toThrow(NotFoundError);
  }
});

it('shows who was told, and why the other subscriptions were not', async () => {
  const [told, off, other] = [
    await aWebhook(),
    await aWebhook({ enabled: false }),
    await aWebhook({ event: 'smsdlr' }),
  ];
  store.accounts.set(ACCOUNT, [told]);
  const id = await anEvent();
  expect(await events.show(id, ACCOUNT)).toMatchObject({
    deliveries: [{ eventId: id, webhookId: told }],
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
