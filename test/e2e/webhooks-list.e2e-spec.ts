import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { type Answer, type Client, clientOf } from '../support/http.js';
import { apiInProcess, type InProcess } from '../support/in-process.js';
import { anApplication, aPendingDelivery, aSubscription } from '../support/rows.js';

let database: TestDatabase;
let api: InProcess;
let few: Client;
let many: Client;
let applicationId: string;

/** The names of the subscriptions of `few`, account-level ones first. */
const ACCOUNT_LEVEL = {
  'call created': { event: 'cdrCreated', resource: 'call' },
  'call,sms created': { event: 'cdrCreated', resource: 'call,sms' },
  'all created': { event: 'cdrCreated', resource: 'all' },
  'all rated off': { event: 'cdrRated', resource: 'all', enabled: false },
};
const OF_APPLICATION = {
  'app sms': { event: 'smsdlr', resource: 'sms' },
  'app all off': { event: 'smsdlr', resource: 'all', enabled: false },
};
const MANY = 3_000;

beforeAll(async () => {
  database = await createTestDatabase();
  const [user, other] = [await createUser(database, 'few'), await createUser(database, 'many')];
  applicationId = await anApplication(database, user.id);
  for (const [name, columns] of Object.entries(ACCOUNT_LEVEL)) {
    await aSubscription(database, user.id, { name, ...columns });
  }
  for (const [name, columns] of Object.entries(OF_APPLICATION)) {
    await aSubscription(database, user.id, { name, application_id: applicationId, ...columns });
  }
  await aSubscription(database, user.id, { name: 'deleted', deleted_at: new Date() });
  await database.query(
    `WITH apps AS (
       INSERT INTO applications (user_id, name, api_type, voice_url)
       SELECT $1, 'a', 'scripting', 'http://v/' FROM generate_series(1, 300) RETURNING id
     )
     INSERT INTO webhooks (account_id, application_id, event, resource, target_url, payload,
       enabled, secret)
     SELECT $1, apps.id, 'smsdlr', 'all', 'https://user:pw@t.example/' || n, '{"n": ' || n || '.0}',
       true, 'whsec_secret'
     FROM apps, generate_series(1, 10) AS n`,
    [other.id],
  );
  api = await apiInProcess({ DATABASE_URL: database.url });
  few = clientOf(api.url, user.auth);
  many = clientOf(api.url, other.auth);
});
afterAll(async () => {
  await api.stop();
  await database.drop();
});

async function names(path: string): Promise<unknown[]> {
  const answer = await few.get(path);
  expect(answer.status).toBe(200);
  return answer.json<{ name: string }[]>().map(({ name }) => name);
}

describe('the list of the account', () => {
  it('contains the account-level subscriptions in ascending order of id', async () => {
    expect(await names('/v1/webhooks/')).toEqual(Object.keys(ACCOUNT_LEVEL));
  });

  it('contains the application-level subscriptions as well with scope=all', async () => {
    expect(await names('/v1/webhooks?scope=all')).toEqual([
      ...Object.keys(ACCOUNT_LEVEL),
      ...Object.keys(OF_APPLICATION),
    ]);
  });

  it.each([
    ['event=cdrCreated', ['call created', 'call,sms created', 'all created']],
    ['event=smsdlr', []],
    ['event=smsdlr&scope=all', ['app sms', 'app all off']],
    ['event=CDRCREATED', []],
    ['event=', []],
    ['event=%00', []],
    ['resource=call', ['call created', 'call,sms created', 'all created', 'all rated off']],
    ['resource=sms', ['call,sms created', 'all created', 'all rated off']],
    ['resource=transcription', ['all created', 'all rated off']],
    ['resource=all', ['all created', 'all rated off']],
    ['resource=fax', []],
    ['resource=call,sms', []],
    ['resource=%00', []],
    ['enabled=false', ['all rated off']],
    ['enabled=true', ['call created', 'call,sms created', 'all created']],
    ['enabled=true&resource=sms&event=cdrCreated', ['call,sms created', 'all created']],
    ['enabled=false&resource=sms&scope=all', ['all rated off', 'app all off']],
    ['unknown=1&unknown=2', Object.keys(ACCOUNT_LEVEL)],
    ['limit=2', ['call created', 'call,sms created']],
  ])('with ?%s contains %j', async (query, expected) => {
    expect(await names(`/v1/webhooks?${query}`)).toEqual(expected);
  });

  it.each([
    'enabled=yes',
    'enabled=',
    'enabled=TRUE',
    'scope=account',
    'scope=',
    'limit=0',
    'include=health',
    'include=',
    'include=activity&include=activity',
    'after=x',
    'event=smsdlr&event=cdrRated',
    'resource=call&resource=sms',
    'enabled=true&enabled=true',
    'scope=all&scope=all',
  ])('refuses ?%s', async (query) => {
    const answer = await few.get(`/v1/webhooks?${query}`);
    expect(answer.status).toBe(400);
    expect(answer.json()['code']).toBe('validation_failed');
  });

  it('keeps its filters in the link to the next page', async () => {
    const first = await few.get('/v1/webhooks?resource=call&limit=3&scope=all');
    const next = /^<(.+)>; rel="next"$/.exec(String(first.headers.link))?.[1];
    expect(await names(next!.slice(api.url.length))).toEqual(['all rated off', 'app all off']);
  });
});

describe('recent activity', () => {
  it('is in lists that ask for it', async () => {
    const [first] = (await few.get('/v1/webhooks?limit=1')).json<{ id: string }[]>();
    expect(first).not.toHaveProperty('activity');
    await database.query(
      `INSERT INTO attempt_counts (account_id, webhook_id, at, outcome, bin, count)
       SELECT account_id, id, now() - interval '1 hour', o.outcome, 0, o.count
       FROM webhooks, (VALUES ('2xx', 3), ('4xx', 1)) AS o(outcome, count) WHERE id = $1`,
      [first!.id],
    );
    await aPendingDelivery(database, first!.id);
    const shown = (await few.get('/v1/webhooks?include=activity&scope=all')).json<
      { id: string; activity: object }[]
    >();
    expect(shown).toHaveLength(6);
    expect(shown[0]!.activity).toEqual({
      ...{ succeeded: 3, failed: 1 },
      lastDeliveryAt: expect.stringMatching(/^20.+Z$/) as string,
    });
    expect(shown[1]!.activity).toEqual({ succeeded: 0, failed: 0 });
    const ofApplication = await few.get(
      `/v1/applications/${applicationId}/webhooks?include=activity&limit=1`,
    );
    expect(ofApplication.json()).toMatchObject([{ activity: { succeeded: 0, failed: 0 } }]);
    expect(String(ofApplication.headers.link)).toContain('include=activity');
  });

  it('names a parameter that it does not know', async () => {
    const { errors } = (await few.get('/v1/webhooks?include=health')).json<{
      errors: { field: string }[];
    }>();
    expect(errors).toEqual([
      {
        ...{ field: 'include', code: 'choice' },
        message: 'The query parameter include must be one of activity.',
      },
    ]);
  });

  it('covers all of thousands', async () => {
    const answer = await many.get('/v1/webhooks?scope=all&include=activity');
    const rows = answer.json<{ activity?: object }[]>();
    expect(rows.filter(({ activity }) => activity !== undefined)).toHaveLength(MANY);
  });
});

describe('the list of an application', () => {
  it('contains its own subscriptions', async () => {
    expect(await names(`/v1/applications/${applicationId}/webhooks/`)).toEqual(
      Object.keys(OF_APPLICATION),
    );
  });

  it.each([
    ['enabled=true', ['app sms']],
    ['resource=call', ['app all off']],
    ['event=cdrRated', []],
    // The parameter scope belongs to the account's list.
    ['scope=anything', ['app sms', 'app all off']],
  ])('with ?%s contains %j', async (query, expected) => {
    expect(await names(`/v1/applications/${applicationId}/webhooks?${query}`)).toEqual(expected);
  });
});

describe('a list of thousands', () => {
  it('is returned whole and in order, with payloads as they were sent', async () => {
    const answer: Answer = await many.get('/v1/webhooks?scope=all');
    expect(answer.status).toBe(200);
    const ids = answer.json<{ id: string }[]>().map(({ id }) => Number(id));
    expect(ids).toHaveLength(MANY);
    expect([...ids].sort((a, b) => a - b)).toEqual(ids);
    expect(answer.text.match(/"payload":\{"n": 7\.0\},/g)).toHaveLength(MANY / 10);
    expect(answer.text).not.toContain('user:pw');
    expect(answer.text).not.toContain('whsec_secret');
  });

  it('continues after a given id', async () => {
    const [first] = (await many.get('/v1/webhooks?scope=all&limit=1')).json<{ id: string }[]>();
    const rest = await many.get(`/v1/webhooks?scope=all&after=${first!.id}`);
    expect(rest.json<object[]>()).toHaveLength(MANY - 1);
  });
});
