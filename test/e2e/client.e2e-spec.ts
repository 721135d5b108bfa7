import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import {
  answerOf,
  type Client,
  createClient,
  everyOf,
  idOf,
  RefusedError,
  type Schemas,
} from '#libs/client';
import { eventually } from '#tools/eventually';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { apiInProcess, workerInProcess, type InProcess } from '../support/in-process.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { typedClientOf } from '../support/typed-client.js';

let database: TestDatabase;
let api: InProcess;
let worker: InProcess;
let receiver: Receiver;
let platform: Client;
let customer: Client;
/** The customer's only application. */
let application: string;
let customers = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  const environment = {
    DATABASE_URL: database.url,
    DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8',
    DELIVERY_RETRY_SCHEDULE: '50ms,1h',
  };
  [api, worker] = await Promise.all([apiInProcess(environment), workerInProcess(environment)]);
  receiver = await startReceiver();
  const { auth } = await createUser(database, 'platform', 'platform');
  platform = typedClientOf(api.url, auth);
});
afterAll(async () => {
  await Promise.all([api.stop(), worker.stop()]);
  await receiver.close();
  await database.drop();
});
beforeEach(async () => {
  receiver.received.length = 0;
  receiver.answering = (_, response) => response.end();
  customers += 1;
  customer = typedClientOf(api.url, (await createUser(database, `customer-${customers}`)).auth);
  const body = { name: 'Shop', voiceUrl: 'https://shop.example.com/voice' };
  application = idOf(await answerOf(customer.POST('/v1/applications', { body })));
});

const by = (id: string) => ({ params: { path: { id } } });

async function subscribe(fields: Partial<Schemas['CreateWebhook']> = {}): Promise<string> {
  const all = { event: 'cdrCreated', resource: 'all', targetUrl: receiver.url } as const;
  const call = customer.POST('/v1/webhooks', { body: { ...all, ...fields } });
  return idOf(await answerOf(call));
}

const anEvent = () =>
  ({
    event: 'cdrCreated',
    resource: 'call',
    applicationId: application,
    data: { duration: 33_258 },
  }) as const;

function report(): Promise<Schemas['AcceptedEvent']> {
  return answerOf(platform.POST('/v1/events', { body: anEvent() }));
}

/** The newest delivery to a subscription, once it has the wanted state. */
function newest(
  webhook: string,
  wanted: Partial<Schemas['Delivery']>,
): Promise<Schemas['Delivery']> {
  return eventually(
    async () => {
      const [delivery] = await answerOf(customer.GET('/v1/webhooks/{id}/deliveries', by(webhook)));
      return delivery!;
    },
    (delivery) =>
      Object.entries(wanted).every(
        ([name, value]) => value === delivery[name as keyof typeof delivery],
      ),
  );
}

it('leads from an application to a verified notification', async () => {
  const payload = { tenant: 42, tags: ['shop'] };
  const params = { path: { applicationId: application } };
  const body = {
    event: 'cdrCreated',
    resource: 'call,sms',
    targetUrl: receiver.url,
    payload,
  } as const;
  const webhook = idOf(
    await answerOf(customer.POST('/v1/applications/{applicationId}/webhooks', { params, body })),
  );
  expect(await answerOf(customer.GET('/v1/webhooks/{id}', by(webhook)))).toMatchObject({
    applicationId: application,
    enabled: true,
    payload,
  });
  const { secret } = await answerOf(customer.GET('/v1/webhooks/{id}/secret', by(webhook)));

  expect(await report()).toMatchObject({ duplicate: false, deliveries: 1 });
  await receiver.until((received) => received.length === 1);
  const { headers, body: text } = receiver.received[0]!;
  const verified = new Webhook(secret ?? '').verify(text, headers as Record<string, string>);
  const notification = verified as Schemas['Notification'];
  expect(notification).toMatchObject({ event: 'cdrCreated', data: anEvent().data, payload });

  await newest(webhook, { state: 'succeeded' });
  const shown = await answerOf(customer.GET('/v1/deliveries/{id}', by(notification.id)));
  expect(shown.attemptLog).toMatchObject([{ number: 1, status: 200, address: '127.0.0.1' }]);
});

it('shows how deliveries went, redelivers them and sends tests', async () => {
  const webhook = await subscribe();
  receiver.answering = (_, response) => response.writeHead(500).end();
  await report();
  const { id } = await newest(webhook, { state: 'pending', attempts: 2 });
  const early = await customer.POST('/v1/deliveries/{id}/redeliver', by(id));
  expect([early.response.status, early.error?.code]).toEqual([409, 'delivery_not_finished']);

  await answerOf(customer.PUT('/v1/webhooks/{id}', { ...by(webhook), body: { enabled: false } }));
  await newest(webhook, { state: 'cancelled', reason: 'disabled' });
  await answerOf(customer.PUT('/v1/webhooks/{id}', { ...by(webhook), body: { enabled: true } }));
  receiver.answering = (_, response) => response.end();
  const again = await answerOf(customer.POST('/v1/deliveries/{id}/redeliver', by(id)));
  expect(idOf(again)).toBe(id);
  await newest(webhook, { state: 'succeeded', attempts: 3 });

  const test = idOf(await answerOf(customer.POST('/v1/webhooks/{id}/test', by(webhook))));
  expect(await newest(webhook, { state: 'succeeded', test: true })).toMatchObject({ id: test });
  const stats = await eventually(
    () => answerOf(customer.GET('/v1/webhooks/{id}/stats', by(webhook))),
    ({ attempts }) => attempts === 4,
  );
  expect(stats).toMatchObject({ attempts: 4, outcomes: { '2xx': 2, '5xx': 2 }, successRate: 0.5 });
});

it('tells which subscriptions were notified of an event, and why others were not', async () => {
  const notified = await subscribe();
  const off = await subscribe({ enabled: false });
  const { id } = await report();
  const event = await answerOf(customer.GET('/v1/events/{id}', by(id)));
  expect(event.deliveries.map(({ webhookId }) => webhookId)).toEqual([notified]);
  expect(event.unmatched).toEqual([{ webhookId: off, reason: 'disabled' }]);
});

it('returns a result for each event of a batch, accepted or refused', async () => {
  // A producer that does not know our kinds of events.
  const faulty = { ...anEvent(), event: 'other' as 'smsdlr' };
  const body = { events: [anEvent(), faulty] };
  const { results } = await answerOf(platform.POST('/v1/events/batch', { body }));
  const told = results.map(
    ({ deliveries, errors }) => deliveries ?? errors?.map(({ field, code }) => [field, code]),
  );
  expect(told).toEqual([0, [['/events/1/event', 'choice']]]);
});

it('changes only the version that it has read', async () => {
  const { response } = await customer.GET('/v1/applications/{id}', by(application));
  const shown = { 'If-Match': response.headers.get('ETag')! };
  const params = { path: { id: application }, header: shown };
  const rename = (name: string) =>
    customer.PUT('/v1/applications/{id}', { params, body: { name } });
  await answerOf(rename('Shop 2'));
  expect((await rename('Shop 3')).error?.code).toBe('precondition_failed');
  expect(await answerOf(customer.GET('/v1/applications/{id}', by(application)))).toMatchObject({
    name: 'Shop 2',
  });
});

it('rotates a secret, and deletes', async () => {
  const webhook = await subscribe();
  const before = await answerOf(customer.GET('/v1/webhooks/{id}/secret', by(webhook)));
  const after = await answerOf(customer.POST('/v1/webhooks/{id}/secret/rotate', by(webhook)));
  expect(after.secret).not.toBe(before.secret);
  const deleted = await answerOf(customer.DELETE('/v1/webhooks/{id}', by(webhook)));
  expect(deleted.message).toBe('delete successful');
  const gone = await customer.GET('/v1/webhooks/{id}', by(webhook));
  expect([gone.response.status, gone.error?.code]).toEqual([404, 'not_found']);
});

it('reads every element of a list, whatever its page size', async () => {
  const reported: string[] = [];
  for (let n = 0; n < 5; n += 1) reported.unshift((await report()).id);
  const pages: number[] = [];
  const listed: string[] = [];
  const events = everyOf(async (page) => {
    const answer = await customer.GET('/v1/events', { params: { query: { limit: 2, ...page } } });
    pages.push(answer.data?.length ?? 0);
    return answer;
  });
  for await (const { id } of events) listed.push(id);
  expect(listed).toEqual(reported);
  expect(pages).toEqual([2, 2, 1]);
});

it('tells why a request was refused, by code, by faults, or as an exception', async () => {
  const body = { name: '', voiceUrl: 'ftp://shop.example.com' };
  const { error } = await customer.POST('/v1/applications', { body });
  expect(error?.code === 'validation_failed' && error.errors).toMatchObject([
    { field: 'name', code: 'length' },
    { field: 'voiceUrl', code: 'format' },
  ]);
  const forbidden = await answerOf(customer.POST('/v1/events', { body: anEvent() })).catch(
    (reason: unknown) => reason,
  );
  expect(forbidden).toBeInstanceOf(RefusedError);
  expect(forbidden).toMatchObject({ status: 403, problem: { code: 'forbidden' } });
  const stranger = createClient({ baseUrl: api.url, username: 'nobody', password: 'none' });
  expect((await stranger.GET('/v1/environments')).error?.code).toBe('unauthorized');
});
