import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Schemas } from '#libs/client';
import { eventually } from '#tools/eventually';
import { createUser } from '../support/accounts.js';
import {
  type DemoAccount,
  faultsOf,
  minimalSubscription,
  startDemoAccount,
} from '../support/demo-account.js';
import { type Answer, type Client, clientOf } from '../support/http.js';
import { type InProcess, workerInProcess } from '../support/in-process.js';
import { type Receiver, startReceiver } from '../support/receiver.js';

const FILTER = { duration: { gte: 60 } };
/** What `JSON.parse` would change: a number beyond 2^53, and an escape. */
const EXACT = '{"id":12345678901234567890,"name":["\\u0041b",1.0]}';
const SHOWN_EXACT = '{"id":12345678901234567890,"name":["Ab",1.0]}';

let demo: DemoAccount;
let worker: InProcess;
let receiver: Receiver;
let platform: Client;

beforeAll(async () => {
  const environment = { DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8' };
  demo = await startDemoAccount(environment);
  worker = await workerInProcess({
    ...environment,
    DATABASE_URL: demo.database.url,
    DELIVERY_RETRY_SCHEDULE: Array.from({ length: 20 }, () => '100ms').join(','),
  });
  receiver = await startReceiver(({ path }, response) =>
    response.writeHead(path === '/failing' ? 500 : 200).end(),
  );
  platform = clientOf(demo.api.url, (await createUser(demo.database, 'switch', 'platform')).auth);
});
afterAll(async () => {
  await worker.stop();
  await receiver.close();
  await demo.stop();
});

const idOf = (path: string) => path.split('/').at(-1)!;

/** @returns the event's id */
async function report(data: unknown, fields: object = {}): Promise<string> {
  const answer = await platform.post('/v1/events', {
    ...{ event: 'cdrCreated', resource: 'call', accountId: demo.id, data, ...fields },
  });
  expect([answer.status, answer.text]).toEqual([202, expect.any(String)]);
  return answer.json<{ id: string }>().id;
}

const eventOf = async (id: string) =>
  (await demo.client.get(`/v1/events/${id}`)).json<Schemas['EventReport']>();

describe('the filter of a subscription', () => {
  it('is shown with its numbers as they were sent, changes the version once, and is cleared by null', async () => {
    const path = await demo.aSubscription();
    const etag = async () => (await demo.client.get(path)).headers.etag;
    expect(await demo.shown(path)).not.toHaveProperty('filter');
    expect((await demo.client.put(path, `{"filter":${EXACT}}`)).status).toBe(200);
    expect((await demo.client.get(path)).text).toContain(`"filter":${SHOWN_EXACT}`);
    const version = await etag();
    expect(
      (await demo.client.put(path, `{"filter": ${SHOWN_EXACT.replaceAll(',', ' , ')}}`)).status,
    ).toBe(200);
    expect(await etag()).toBe(version);
    expect((await demo.client.put(path, { filter: null })).status).toBe(200);
    expect(await etag()).not.toBe(version);
    expect(await demo.shown(path)).not.toHaveProperty('filter');
    const entries = (await demo.client.get('/v1/audit?limit=2')).json<Schemas['AuditEntry'][]>();
    expect(entries).toMatchObject([{ fields: ['filter'] }, { fields: ['filter'] }]);
  });

  it('without conditions is none', async () => {
    for (const filter of [{}, [], null]) {
      expect(await demo.shown(await demo.aSubscription({ filter }))).not.toHaveProperty('filter');
    }
    for (const filter of [{}, []]) {
      const path = await demo.aSubscription({ filter: FILTER });
      expect((await demo.client.put(path, { filter })).status).toBe(200);
      expect(await demo.shown(path)).not.toHaveProperty('filter');
    }
  });

  it('is refused with the place of each fault', async () => {
    const faults = async (filter: unknown) =>
      faultsOf(await demo.client.post('/v1/webhooks', { ...minimalSubscription, filter }));
    expect(await faults('x')).toEqual(['filter type']);
    expect(await faults([{}])).toEqual(['filter type']);
    expect(await faults({ 'call.duration': { gt: 'x' }, 'a/b': [1, {}], c: {} })).toEqual([
      '/filter/a~1b/1 format',
      '/filter/c length',
      '/filter/call.duration/gt format',
    ]);
    const path = await demo.aSubscription();
    const answer = await demo.client.put(path, { filter: { a: { equals: 1 } } });
    expect(faultsOf(answer)).toEqual(['/filter/a/equals not_allowed']);
    expect(answer.json<{ error: string }>().error).toContain(
      'gt, gte, lt, lte, prefix, exists, not',
    );
  });

  it('decides which events are delivered, from the next one on after a change', async () => {
    const path = await demo.aSubscription({ targetUrl: receiver.url, filter: FILTER });
    receiver.received.length = 0;
    await report({ duration: 59, n: 1 });
    await report({ duration: 60, n: 2 });
    await demo.client.put(path, { filter: { duration: { lt: 60 } } });
    await report({ duration: 60, n: 3 });
    await report({ duration: 59, n: 4 });
    await demo.client.put(path, { filter: null });
    await report({ n: 5 });
    await receiver.until(({ length }) => length >= 3);
    const numbers = receiver.received.map(
      ({ body }) => (JSON.parse(body) as { data: { n: number } }).data.n,
    );
    expect(numbers.sort()).toEqual([2, 4, 5]);
  });

  it('does not hold tests', async () => {
    const path = await demo.aSubscription({ targetUrl: receiver.url, filter: { no: 'such' } });
    receiver.received.length = 0;
    expect((await demo.client.post(`${path}/test`)).status).toBe(202);
    await receiver.until(({ length }) => length === 1);
  });

  it('is the reason why a subscription was not told, and forbids sending the event by hand', async () => {
    const path = await demo.aSubscription({ filter: FILTER });
    const excluded = await report({ duration: 59 });
    expect((await eventOf(excluded)).unmatched).toEqual([
      { webhookId: idOf(path), reason: 'filter' },
    ]);
    const send = () =>
      demo.client.post(`/v1/events/${excluded}/deliveries`, { webhookId: idOf(path) });
    const refused = await send();
    expect([refused.status, refused.json<{ code: string; error: string }>()]).toEqual([
      409,
      expect.objectContaining({
        code: 'event_not_matching',
        error: expect.stringContaining('its filter excludes the event') as string,
      }),
    ]);
    await demo.client.put(path, { filter: null });
    expect((await send()).status).toBe(202);
  });

  it('decides which events were missed, in lists and in replays', async () => {
    const ids = [await report({ duration: 59 }), await report({ duration: 60 })];
    const path = await demo.aSubscription({ targetUrl: receiver.url, filter: { duration: 60 } });
    const missed = await demo.client.get(`/v1/events?missedBy=${idOf(path)}&limit=2`);
    const found = missed.json<Schemas['Event'][]>();
    expect(found[0]).toMatchObject({ id: ids[1] });
    expect(found[0]).not.toHaveProperty('data');
    expect(found.map(({ id }) => id)).not.toContain(ids[0]);
    const since = new Date(Date.now() - 3_600_000).toISOString();
    const replay = (body: object) =>
      demo.client.post(`${path}/replay`, { since, missed: true, ...body });
    const counted = (await replay({ dryRun: true })).json<{ deliveries: number }>();
    const answer = await replay({});
    expect(answer.status).toBe(202);
    const ended = await eventually(
      () => demo.shown(new URL(answer.json<{ href: string }>().href).pathname),
      ({ state }) => state === 'completed',
    );
    expect(ended).toMatchObject({ total: counted.deliveries, replayed: counted.deliveries });
    const toldOf = async (id: string) =>
      (await eventOf(id)).deliveries.map(({ webhookId }) => webhookId);
    expect(await toldOf(ids[1]!)).toContain(idOf(path));
    expect(await toldOf(ids[0]!)).not.toContain(idOf(path));
  });
});

describe('a notice', () => {
  it('is sent to a subscription whose filter it meets, and to no other', async () => {
    receiver.received.length = 0;
    const failing = await demo.aSubscription({ targetUrl: `${receiver.url}/failing` });
    const listen = async (path: string, filter: object) => {
      const notice = { ...minimalSubscription, event: 'webhookFailing' };
      const targetUrl = `${receiver.url}${path}`;
      const answer = await demo.client.post('/v1/webhooks', { ...notice, targetUrl, filter });
      expect(answer.status).toBe(200);
      return idOf(answer.json<{ href: string }>().href);
    };
    const [told, untold] = [
      await listen('/told', { webhookId: idOf(failing) }),
      await listen('/untold', { webhookId: { not: idOf(failing) } }),
    ];
    await demo.database.query(
      `UPDATE webhooks SET failures = 10, failing_since = now() - interval '1 minute' WHERE id = $1`,
      [idOf(failing)],
    );
    await report({});
    await receiver.until((received) => received.some(({ path }) => path === '/told'));
    const notices = await demo.client.get('/v1/events?event=webhookFailing');
    const [notice] = notices.json<Schemas['Event'][]>();
    const { deliveries, unmatched } = await eventOf(notice!.id);
    expect(deliveries).toMatchObject([{ webhookId: told }]);
    expect(unmatched).toEqual([{ webhookId: untold, reason: 'filter' }]);
    expect(receiver.received.filter(({ path }) => path === '/untold')).toEqual([]);
  });
});

describe('the preview of a filter', () => {
  const preview = (path: string, filter: unknown): Promise<Answer> =>
    demo.client.post(`${path}/filter/preview`, { filter });

  it('counts the newest events that are for the subscription, and shows the newest that match', async () => {
    const application = await demo.anApplication();
    const ofApplication = { accountId: undefined, applicationId: idOf(application) };
    for (let n = 0; n < 12; n += 1) await report({ n }, ofApplication);
    await report({ n: 1 }, { ...ofApplication, resource: 'sms' });
    await report({ n: 1 }, { ...ofApplication, event: 'cdrRated' });
    await report({ n: 1 });
    const path = await demo.aSubscription(
      { resource: 'call,transcription', enabled: false },
      `${application}/webhooks`,
    );
    const answer = await preview(path, { n: { gt: 0 } });
    const shown = answer.json<Schemas['FilterPreview']>();
    expect(answer.status).toBe(200);
    expect(shown).toMatchObject({ events: 12, matching: 11 });
    expect(shown.examples).toHaveLength(10);
    const newest = await eventOf(shown.examples[0]!.id);
    expect(newest.data).toEqual({ n: 11 });
    expect(shown.examples[0]).not.toHaveProperty('data');
    const oldest = await demo.client.get(`/v1/events?applicationId=${idOf(application)}&limit=100`);
    const first = oldest.json<Schemas['Event'][]>().findLast(({ resource }) => resource === 'call');
    expect(shown.since).toBe(first!.createdAt);
    expect((await preview(path, {})).json()).toMatchObject({ events: 12, matching: 12 });
    const none = (await preview(path, { no: 1 })).json();
    expect(none).toMatchObject({ events: 12, matching: 0, examples: [] });
    expect(await demo.shown(path)).not.toHaveProperty('filter');
  });

  it('is the same for a subscription that does not exist yet', async () => {
    const applicationId = idOf(await demo.anApplication());
    for (let n = 0; n < 3; n += 1) await report({ n }, { accountId: undefined, applicationId });
    const wanted = {
      event: 'cdrCreated',
      resource: 'call',
      applicationId,
      filter: { n: { gt: 0 } },
    };
    const previewNew = (body: object) => demo.client.post('/v1/webhooks/filter/preview', body);
    expect((await previewNew(wanted)).json()).toMatchObject({ events: 3, matching: 2 });
    expect((await previewNew({ ...wanted, resource: 'sms' })).json()).toMatchObject({ events: 0 });
    const stranger = clientOf(demo.api.url, (await createUser(demo.database, 'stranger')).auth);
    const foreign = await stranger.post('/v1/webhooks/filter/preview', wanted);
    expect(foreign.json()).toMatchObject({ events: 0, matching: 0, examples: [] });
    expect(faultsOf(await previewNew({ resource: 'none', filter: {} }))).toEqual([
      'event required',
      'resource choice',
    ]);
  });

  it('reads at most 1,000 events and 16 MiB of data', async () => {
    const other = await createUser(demo.database, 'long');
    const client = clientOf(demo.api.url, other.auth);
    const insert = (count: number, data: string) =>
      demo.database.query(
        `INSERT INTO events (id, account_id, event, resource, occurred_at, created_at, data)
         SELECT new_uuid(clock_timestamp(), n), $1, 'cdrCreated', 'call', now(), now(), ${data}
         FROM generate_series(1, $2::integer) n`,
        [other.id, count],
      );
    await insert(300, `json_build_object('a', repeat('x', 128000))`);
    const made = await client.post('/v1/webhooks', minimalSubscription);
    const { pathname } = new URL(made.json<{ href: string }>().href);
    const counted = async () =>
      (await client.post(`${pathname}/filter/preview`, { filter: { a: { exists: true } } })).json<
        Schemas['FilterPreview']
      >();
    const long = await counted();
    expect(long.matching).toBe(long.events);
    expect(long.events).toBeGreaterThan(120);
    expect(long.events).toBeLessThan(150);
    await insert(1_200, `'{"a":1}'`);
    expect(await counted()).toMatchObject({ events: 1_000, matching: 1_000 });
  });

  it('is refused without a filter and with a faulty one', async () => {
    const path = await demo.aSubscription();
    expect(faultsOf(await demo.client.post(`${path}/filter/preview`, {}))).toEqual([
      'filter required',
    ]);
    expect(faultsOf(await preview(path, null))).toEqual(['filter required']);
    expect(faultsOf(await preview(path, { a: {} }))).toEqual(['/filter/a length']);
    expect(faultsOf(await preview(path, [1]))).toEqual(['filter type']);
    expect((await preview(path, [])).status).toBe(200);
    expect((await preview('/v1/webhooks/999999999', { a: 1 })).status).toBe(404);
  });
});
