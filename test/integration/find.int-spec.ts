import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Schemas } from '#libs/client';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { type Answer, type Client, clientOf } from '../support/http.js';
import { apiInProcess, type InProcess } from '../support/in-process.js';
import { aSubscription, anApplication } from '../support/rows.js';

/** The longest text that an event's data may have. */
const LONGEST = 128 << 10;
/** What a page reads at most. */
const MAX_BYTES = 16 << 20;
const MAX_ROWS = 10_000;

let database: TestDatabase;
let api: InProcess;
let account: string;
let customer: Client;
let stranger: Client;
let platform: Client;

beforeAll(async () => {
  database = await createTestDatabase();
  api = await apiInProcess({ DATABASE_URL: database.url });
  const owner = await createUser(database, 'customer');
  account = owner.id;
  customer = clientOf(api.url, owner.auth);
  stranger = clientOf(api.url, (await createUser(database, 'stranger')).auth);
  platform = clientOf(api.url, (await createUser(database, 'switch', 'platform')).auth);
});
afterAll(async () => {
  await api.stop();
  await database.drop();
});
beforeEach(() => database.query('TRUNCATE webhooks, deliveries, events, event_keys'));

async function report(data: object, fields: object = {}): Promise<string> {
  const event = { event: 'cdrCreated', resource: 'call', accountId: account, data, ...fields };
  const answer = await platform.post('/v1/events', event);
  return answer.json<{ id: string }>().id;
}

/** Stores events of one ms each, with a text as long as given, the oldest with another one. @returns their ids, newest first */
async function manyEvents(count: number, bytes: number, oldest: string): Promise<string[]> {
  const rows = await database.query<{ id: string }>(
    `INSERT INTO events (id, account_id, event, resource, occurred_at, created_at, data)
     SELECT new_uuid(at, 1), $1, 'cdrCreated', 'call', at, at,
       json_build_object('text', CASE n WHEN $2 THEN $4 END, 'filler', repeat('x', $3 - 40))
     FROM generate_series(1, $2::integer) n,
       LATERAL (SELECT date_trunc('ms', now()) - n * interval '1 ms' AS at) t
     ORDER BY n RETURNING id`,
    [account, count, bytes, oldest],
  );
  return rows.map(({ id }) => id);
}

const idsOf = (answer: Answer) => answer.json<{ id: string }[]>().map(({ id }) => id);

/** All pages of a list, following its links. */
async function pagesOf(path: string): Promise<Answer[]> {
  const pages: Answer[] = [];
  for (let next: string | undefined = path; next !== undefined;) {
    const answer = await customer.get(next);
    expect([next, answer.status]).toEqual([next, 200]);
    pages.push(answer);
    const [, address] = /<([^>]*)>/.exec(String(answer.headers.link ?? '')) ?? [];
    next = address?.slice(api.url.length);
  }
  return pages;
}

const searchedTo = ({ headers }: Answer) => headers['switchhook-searched-to'];

/** The time in an id. */
const timeOf = (id: string) =>
  new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)).toISOString();

describe('a telephone number', () => {
  const NUMBER = '+14075551234';

  it.each(['contains', 'producerId'])(
    'is found by %s with its plus as it is or encoded, on all pages and in exports',
    async (parameter) => {
      const made = [];
      for (const event of ['cdrCreated', 'cdrRated', 'smsdlr']) {
        made.push(await report({ to: NUMBER }, { id: NUMBER, event }));
      }
      await report({ to: '14075551234', text: 'room 14075551234' }, { id: '14075551234' });
      for (const sent of [NUMBER, encodeURIComponent(NUMBER)]) {
        const pages = await pagesOf(`/v1/events?${parameter}=${sent}&limit=1`);
        expect(pages.flatMap(idsOf)).toEqual(made.toReversed());
        const { text } = await customer.get(`/v1/events?${parameter}=${sent}`, {
          headers: { Accept: 'application/x-ndjson' },
        });
        expect(text.trim().split('\n')).toHaveLength(3);
      }
    },
  );

  it('is not what a blank in front of digits is, if the blank is encoded', async () => {
    const made = [];
    for (let times = 0; times < 2; times += 1) made.push(await report({ room: 'number 12' }));
    await report({ room: 'number +12' });
    const pages = await pagesOf('/v1/events?contains=%2012&limit=1');
    expect(pages.flatMap(idsOf)).toEqual(made.toReversed());
    expect(idsOf(await customer.get('/v1/events?contains=number+12'))).toEqual(made.toReversed());
  });
});

describe('contains', () => {
  it('finds events and deliveries by a text as it was sent, with other filters', async () => {
    const webhook = await aSubscription(database, account);
    const first = await report({ callId: 'a-100%_\\' }, { id: 'first' });
    const second = await report({ callId: 'a-100xy/' }, { event: 'smsdlr', resource: 'sms' });
    await report({ callId: 'b' });
    const found = async (query: string, client = customer) =>
      idsOf(await client.get(`/v1/events?${query}`));
    expect(await found('contains=a-100')).toEqual([second, first]);
    expect(await found('contains=a-100%25_')).toEqual([first]);
    expect(await found('contains=%5C%5C%5C')).toEqual([]);
    expect(await found(`contains=${encodeURIComponent('_\\\\"}')}`)).toEqual([first]);
    expect(await found('contains=A-100')).toEqual([]);
    expect(await found('contains=a-100&event=smsdlr')).toEqual([second]);
    expect(await found('contains=a-100', platform)).toEqual([second, first]);
    expect(await found('contains=a-100', stranger)).toEqual([]);
    for (const path of ['/v1/deliveries', `/v1/webhooks/${webhook}/deliveries`]) {
      const of = async (query: string) =>
        (await customer.get(`${path}?${query}`))
          .json<Schemas['Delivery'][]>()
          .map(({ eventId }) => eventId);
      expect(await of('contains=a-100')).toEqual([first]);
      expect(await of('contains=100%25_&state=pending')).toEqual([first]);
      expect(await of('contains=a-100&state=exhausted')).toEqual([]);
      expect(await of('producerId=first')).toEqual([first]);
      expect(await of('producerId=second')).toEqual([]);
    }
    expect((await stranger.get('/v1/deliveries?producerId=first')).json()).toEqual([]);
  });

  it.each([
    ['ab', 'length'],
    ['abc', undefined],
    ['é'.repeat(200), undefined],
    ['é'.repeat(201), 'length'],
    ['😀😀😀', undefined],
    ['a\0b', 'format'],
  ])('of %j has the fault %s', async (text, code) => {
    for (const list of ['events', 'deliveries']) {
      const answer = await customer.get(`/v1/${list}?contains=${encodeURIComponent(text)}`);
      expect(answer.status).toBe(code === undefined ? 200 : 400);
      if (code) expect(answer.json()).toMatchObject({ errors: [{ field: 'contains', code }] });
    }
  });

  it('reads at most 16 MiB for a page, says how far it came, and goes on', async () => {
    const count = MAX_BYTES / LONGEST + 20;
    const ids = await manyEvents(count, LONGEST, 'needle');
    const start = performance.now();
    const [first, second, ...others] = await pagesOf('/v1/events?contains=needle&limit=10');
    expect(performance.now() - start).toBeLessThan(4_000);
    expect(others).toEqual([]);
    expect(idsOf(first!)).toEqual([]);
    const last = ids.findIndex((id) => timeOf(id) === searchedTo(first!));
    expect(last).toBeGreaterThan(count - 40);
    expect(first!.headers.link).toContain(`after=${ids[last]!}`);
    expect(idsOf(second!)).toEqual([ids.at(-1)]);
    expect(searchedTo(second!)).toBeUndefined();
    expect(idsOf(await customer.get('/v1/events?contains=xxx&limit=2'))).toEqual(ids.slice(0, 2));
  });

  it('reads no data of events that other filters exclude', async () => {
    const ids = await manyEvents(MAX_BYTES / LONGEST + 20, LONGEST, 'needle');
    await database.query(`UPDATE events SET event = 'smsdlr' WHERE id <> $1`, [ids.at(-1)]);
    const pages = await pagesOf('/v1/events?contains=needle&event=cdrCreated');
    expect(pages.map(idsOf)).toEqual([[ids.at(-1)]]);
  });

  it('goes on through deliveries, and deliveries whose event is gone are not found', async () => {
    const webhook = await aSubscription(database, account);
    const ids = await manyEvents(MAX_BYTES / LONGEST + 20, LONGEST, 'needle');
    await database.query(
      `INSERT INTO deliveries (id, event_id, webhook_id, account_id, event, generation, state, created_at, completed_at)
       SELECT (left(id::text, 35) || '9')::uuid, id, $1, account_id, event, 1, 'succeeded', created_at, now() FROM events`,
      [webhook],
    );
    const [deletedId] = ids;
    await database.query('DELETE FROM events WHERE id = $1', [deletedId]);
    for (const path of ['/v1/deliveries', `/v1/webhooks/${webhook}/deliveries`]) {
      const pages = await pagesOf(`${path}?contains=needle`);
      expect(pages.map((page) => idsOf(page).length)).toEqual([0, 1]);
      expect(pages.map(searchedTo)).toEqual([expect.any(String), undefined]);
      expect(idsOf(await customer.get(`${path}?contains=xxx`))).not.toContain(deletedId);
    }
  });
});

describe('every list with filters', () => {
  it('finds nothing with a text that PostgreSQL cannot store', async () => {
    await aSubscription(database, account);
    const event = await report({}, { id: 'a\ufffd' });
    for (const list of ['/v1/events', '/v1/deliveries']) {
      const found = async (producerId: string) =>
        (await customer.get(`${list}?producerId=${encodeURIComponent(producerId)}`))
          .json<{ id: string; eventId?: string }[]>()
          .map(({ id, eventId = id }) => eventId);
      expect(await found('a\ufffd')).toEqual([event]);
      expect(await found('a\0')).toEqual([]);
    }
  });

  it('says how far a page came that read as many rows as it may', async () => {
    const ids = await manyEvents(MAX_ROWS + 5, 50, 'needle');
    const path = '/v1/events?resource=transcription';
    expect((await pagesOf(path)).map(searchedTo)).toEqual([timeOf(ids[MAX_ROWS - 1]!), undefined]);
    expect(searchedTo(await customer.get('/v1/events'))).toBeUndefined();
    const head = await customer.head(path);
    expect(searchedTo(head)).toBe(timeOf(ids[MAX_ROWS - 1]!));
    const found = await pagesOf('/v1/events?contains=needle');
    expect(found.flatMap(idsOf)).toEqual([ids.at(-1)]);
  });
});

describe('missedBy', () => {
  const missedBy = async (webhook: string, query = '', client = customer) =>
    idsOf(await client.get(`/v1/events?missedBy=${webhook}${query}`));

  it('finds what the subscription is for and has no delivery of', async () => {
    const application = await anApplication(database, account);
    const before = await report({}, { applicationId: application });
    const webhook = await aSubscription(database, account, { resource: 'call,sms' });
    const ofApplication = await aSubscription(database, account, { application_id: application });
    await report({});
    const sms = await report({}, { event: 'cdrRated', resource: 'sms' });
    const rated = await aSubscription(database, account, { event: 'cdrRated', enabled: false });
    await report({}, { resource: 'transcription' });
    await database.query('UPDATE webhooks SET enabled = false');
    const after = await report({}, { id: 'after' });
    expect(await missedBy(webhook)).toEqual([after, before]);
    expect(await missedBy(webhook, '', platform)).toEqual([after, before]);
    expect(await missedBy(webhook, '&limit=1')).toEqual([after]);
    expect(await missedBy(webhook, `&after=${after}`)).toEqual([before]);
    expect(await missedBy(webhook, '&producerId=after')).toEqual([after]);
    expect(await missedBy(webhook, `&applicationId=${application}`)).toEqual([before]);
    expect(await missedBy(webhook, '&event=cdrRated')).toEqual([]);
    expect(await missedBy(webhook, '&contains=xxx')).toEqual([]);
    expect(await missedBy(ofApplication)).toEqual([before]);
    expect(await missedBy(ofApplication, '&applicationId=799999999')).toEqual([]);
    expect(await missedBy(rated)).toEqual([sms]);
    for (const unknown of ['1', 'x', '799999999']) expect(await missedBy(unknown)).toEqual([]);
    expect(await missedBy(webhook, '', stranger)).toEqual([]);
    await database.query('UPDATE webhooks SET enabled = true');
    await customer.post(`/v1/events/${after}/deliveries`, { webhookId: webhook });
    expect(await missedBy(webhook)).toEqual([before]);
    await database.query(`UPDATE webhooks SET created_at = now() + interval '31 days'`);
    expect(await missedBy(webhook)).toEqual([]);
  });

  it('finds the missed ones among events that were accepted together', async () => {
    const off = await aSubscription(database, account, { event: 'cdrRated' });
    const body = { event: 'cdrCreated', resource: 'call', accountId: account, data: {} };
    const batch = Array.from({ length: 600 }, (_, n) =>
      n % 3 === 0 ? { ...body, event: 'cdrRated' } : body,
    );
    const webhook = await aSubscription(database, account);
    const answer = await platform.post('/v1/events/batch', { events: batch });
    const { results } = answer.json<{ results: { id: string }[] }>();
    const idsFor = (wanted: string) =>
      results.filter((_, n) => batch[n]!.event === wanted).map(({ id }) => id);
    const created = idsFor('cdrCreated').sort().reverse();
    const left = created.filter((_, n) => n % 7 === 0);
    await database.query(
      'DELETE FROM deliveries WHERE webhook_id = $1 AND event_id = ANY ($2::uuid[])',
      [webhook, left],
    );
    const pages = await pagesOf(`/v1/events?missedBy=${webhook}&limit=10`);
    expect(pages.flatMap(idsOf)).toEqual(left);
    expect(await missedBy(off)).toEqual([]);
  });

  describe('of a subscription whose filter refuses all', () => {
    const EVENTS = 12_000;
    let webhook: string;
    let ids: string[];
    beforeEach(async () => {
      ids = await manyEvents(EVENTS, 100, 'oldest');
      await database.query('ANALYZE events');
      const filter = '{"text":"oldest"}';
      webhook = await aSubscription(database, account, { filter, filter_id: 'id' });
    });

    it('reads as many rows for a page as any other list, whatever its limit', async () => {
      for (const limit of [1, 20, 1_000]) {
        const pages = await pagesOf(`/v1/events?missedBy=${webhook}&limit=${limit}`);
        expect(pages.map((page) => idsOf(page).length)).toEqual([0, 1]);
        expect(pages[0]!.headers['switchhook-searched-to']).toBeDefined();
      }
    });

    it('is exported, counted and sent like another one', async () => {
      const headers = { accept: 'application/x-ndjson' };
      const exported = await customer.get(`/v1/events?missedBy=${webhook}`, { headers });
      expect(exported.text.trim().split('\n')).toHaveLength(1);
      const body = { missed: true, since: new Date(Date.now() - 3_600_000), dryRun: true };
      const counted = await customer.post(`/v1/webhooks/${webhook}/replay`, body);
      expect(counted.json()).toMatchObject({ deliveries: 1 });
    });

    it('has an event that matches on the first page if one of the newest does', async () => {
      const change = `UPDATE events SET data = '{"text":"oldest"}' WHERE id = $1`;
      await database.query(change, [ids[3]]);
      const pages = await pagesOf(`/v1/events?missedBy=${webhook}&limit=2`);
      expect(pages.map((page) => idsOf(page).length)).toEqual([1, 1]);
    });
  });

  it('counts the data only of events that the subscription has no delivery of', async () => {
    const ids = await manyEvents(2_000, 64 << 10, 'oldest');
    await database.query("UPDATE events SET created_at = created_at - interval '1 hour'");
    const webhook = await aSubscription(database, account, { filter: '{"a":1}', filter_id: 'id' });
    await database.query(
      `INSERT INTO deliveries (id, event_id, webhook_id, account_id, event, generation, state, created_at)
       SELECT (left(id::text, 19) || '0001' || right(id::text, 13))::uuid, id, $1, account_id, event, 1, 'succeeded', created_at
       FROM events WHERE id <> $2`,
      [webhook, ids.at(-1)],
    );
    const pages = await pagesOf(`/v1/events?missedBy=${webhook}`);
    expect(pages.map((page) => idsOf(page).length)).toEqual([0]);
  });

  it('leaves out notices about the subscription itself', async () => {
    const [about, other] = [
      await aSubscription(database, account, { event: 'webhookFailing' }),
      await aSubscription(database, account, { event: 'webhookFailing' }),
    ];
    const [notice] = await database.query<{ id: string }>(
      `INSERT INTO events (id, account_id, event, resource, occurred_at, created_at, data)
       SELECT new_uuid(now(), 1), $1, 'webhookFailing', 'all', now(), now(), json_build_object('webhookId', $2::text)
       RETURNING id`,
      [account, about],
    );
    expect(await missedBy(about)).toEqual([]);
    expect(await missedBy(other)).toEqual([notice!.id]);
  });
});
