import { DataSource } from 'typeorm';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { UnavailableError } from '#libs/kernel';
import { Database, Log, Metrics, readConfig, Tracing } from '#libs/runtime';
import { FakeActivity } from '../../activity/domain/activity.fake.js';
import { Filter } from '../../event-kinds/domain/filter.js';
import { DeliveryQueue } from '../../queue/domain/delivery-queue.js';
import type { AccountLoadCounter } from '../../statistics/account-loads.js';
import type { ReportedEvent } from '../domain/event.js';
import { ACCEPT_FILTERED_EVENTS } from './accept-events.statements.js';
import { PostgresEventStore } from './postgres-event.store.js';
import { createTestDatabase, type TestDatabase } from '../../../../../test/support/database.js';
import { aSubscription, anAccount, anApplication } from '../../../../../test/support/rows.js';

class NoQueue extends DeliveryQueue {
  hasRoom(): boolean {
    return false;
  }
  add(): Promise<void> {
    return Promise.resolve();
  }
}

let database: TestDatabase;
let source: DataSource;
let store: PostgresEventStore;
let account: string;
/** The names of the statements that were run. */
let statements: string[];
let beforeStatement: (name: string) => Promise<void>;

beforeAll(async () => {
  database = await createTestDatabase();
  source = await new DataSource({ type: 'postgres', url: database.url, poolSize: 10 }).initialize();
});
afterAll(async () => {
  await source.destroy();
  await database.drop();
});
beforeEach(async () => {
  const config = readConfig({ DATABASE_URL: database.url });
  const watched = new Database(source, new Metrics(), new Log(config, 'test'), config);
  const { run } = watched;
  statements = [];
  beforeStatement = () => Promise.resolve();
  vi.spyOn(watched, 'run').mockImplementation(async (statement, ...given) => {
    await beforeStatement(statement.name ?? '');
    statements.push(statement.name ?? '');
    return run(statement, ...given);
  });
  const loads = { add: () => undefined } as unknown as AccountLoadCounter;
  store = new PostgresEventStore(
    ...([watched, new NoQueue(), new FakeActivity(), new Tracing()] as const),
    ...([loads, new Metrics(), config] as const),
  );
  account = await anAccount(database);
});

/** What is run after a filter was met that is not known. */
const LEARNING = ['events.accept-filtered', 'events.filters', 'events.accept-filtered'];

/** The columns of a filter. */
const filtered = (json: string) => ({ filter: json, filter_id: new Filter(json).id });

const subscribe = (json: string | null, columns: Record<string, unknown> = {}, of = account) =>
  aSubscription(database, of, { ...(json !== null && filtered(json)), ...columns });

async function changeFilter(id: string, json: string | null): Promise<void> {
  const { filter, filter_id: filterId } =
    json === null ? { filter: null, filter_id: null } : filtered(json);
  await database.query('UPDATE webhooks SET filter = $2, filter_id = $3 WHERE id = $1', [
    id,
    filter,
    filterId,
  ]);
}

const anEvent = (data: object, change: Partial<ReportedEvent> = {}): ReportedEvent => ({
  ...{ event: 'cdrCreated', resource: 'call', accountId: account },
  ...{ data: JSON.stringify(data), ...change },
});

async function accept(...events: ReportedEvent[]): Promise<{ id: string; deliveries: number }[]> {
  const results = await store.accept(events);
  return results.map((result) => {
    expect(result).toMatchObject({ accepted: true });
    return result as { id: string; deliveries: number } & typeof result;
  });
}

/** The subscriptions that an event was sent to. */
async function toldOf(id: string): Promise<string[]> {
  const rows = await database.query<{ webhook: string }>(
    'SELECT webhook_id AS webhook FROM deliveries WHERE event_id = $1 ORDER BY 1',
    [id],
  );
  return rows.map(({ webhook }) => webhook);
}

it('delivers an event to the subscriptions whose filters it meets, and to those without one', async () => {
  const all = await subscribe(null);
  const long = await subscribe('{"n":{"gte":60}}');
  const short = await subscribe('{"n":{"lt":60}}');
  const [first, second, neither] = await accept(
    anEvent({ n: 60 }),
    anEvent({ n: 59 }),
    anEvent({ n: '60' }),
  );
  expect(await toldOf(first!.id)).toEqual([all, long]);
  expect(await toldOf(second!.id)).toEqual([all, short]);
  expect(await toldOf(neither!.id)).toEqual([all]);
  expect([first, second, neither].map((event) => event!.deliveries)).toEqual([2, 2, 1]);
});

it('stores an event that meets no filter as unmatched', async () => {
  await subscribe('{"n":1}');
  const [met, unmet] = await accept(anEvent({ n: 1 }), anEvent({ n: 2 }));
  const rows = await database.query<{ id: string; unmatched: boolean }>(
    'SELECT id, unmatched FROM events WHERE account_id = $1 ORDER BY id',
    [account],
  );
  expect(rows).toEqual([
    { id: met!.id, unmatched: false },
    { id: unmet!.id, unmatched: true },
  ]);
});

it('reads filters once, and never for accounts without any', async () => {
  await accept(anEvent({}));
  expect(statements).toEqual(['events.accept']);
  await subscribe('{"n":1}');
  statements = [];
  await accept(anEvent({ n: 1 }));
  expect(statements).toEqual(['events.accept', ...LEARNING]);
  statements = [];
  await accept(anEvent({ n: 1 }));
  expect(statements).toEqual(['events.accept-filtered']);
});

it('judges no filters a second after the last event with an unknown one', async () => {
  const neighbour = await anAccount(database);
  await subscribe('{"n":1}');
  await accept(anEvent({ n: 1 }));
  statements = [];
  await accept(anEvent({}, { accountId: neighbour }));
  expect(statements).toEqual(['events.accept-filtered']);
  const later = performance.now() + 1000;
  const now = vi.spyOn(performance, 'now').mockReturnValue(later);
  statements = [];
  await accept(anEvent({}, { accountId: neighbour }));
  now.mockRestore();
  expect(statements).toEqual(['events.accept']);
});

it('judges by the filter as it is when the event is accepted, however often it was changed', async () => {
  const webhook = await subscribe('{"n":1}');
  const deliveries = async () => (await accept(anEvent({ n: 1 })))[0]!.deliveries;
  expect(await deliveries()).toBe(1);
  await changeFilter(webhook, '{"n":2}');
  expect(await deliveries()).toBe(0);
  await changeFilter(webhook, null);
  expect(await deliveries()).toBe(1);
  await changeFilter(webhook, '{"n":1}');
  expect(await deliveries()).toBe(1);
});

it('knows the filters of each application, event kind and resource', async () => {
  const [one, other] = [
    await anApplication(database, account),
    await anApplication(database, account),
  ];
  const ofOne = await subscribe('{"n":1}', { application_id: one });
  const ofSms = await subscribe('{"n":{"gte":1}}', { resource: 'sms' });
  const rated = await subscribe('{"n":{"lte":1}}', { event: 'cdrRated' });
  const events = [
    anEvent({ n: 1 }, { accountId: undefined, applicationId: one }),
    anEvent({ n: 1 }, { accountId: undefined, applicationId: other }),
    anEvent({ n: 1 }, { resource: 'sms' }),
    anEvent({ n: 1 }, { event: 'cdrRated' }),
  ];
  for (let times = 0; times < 2; times += 1) {
    const ids = (await accept(...events)).map(({ id }) => id);
    expect(await Promise.all(ids.map(toldOf))).toEqual([[ofOne], [], [ofSms], [rated]]);
  }
  expect(statements).toEqual(['events.accept', ...LEARNING, 'events.accept-filtered']);
});

it('keeps the order of an account whose filters are not known, and stores others meanwhile', async () => {
  const neighbour = await anAccount(database);
  await subscribe('{"n":1}', { resource: 'sms' });
  const accepted = await accept(
    anEvent({ n: 1 }, { resource: 'sms' }),
    anEvent({ n: 2 }),
    anEvent({ n: 3 }, { accountId: neighbour }),
    anEvent({ n: 4 }, { resource: 'sms' }),
  );
  const byId = accepted
    .map(({ id }, index) => ({ id, index }))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
  expect(byId.map(({ index }) => index)).toEqual([2, 0, 1, 3]);
});

it('holds no event that somebody else reports at the same time', async () => {
  await subscribe('{"n":1}', { resource: 'sms' });
  const [[held], [other]] = await Promise.all([
    accept(anEvent({ n: 1 }, { resource: 'sms' })),
    accept(anEvent({ n: 2 })),
  ]);
  expect(statements).toEqual(['events.accept', ...LEARNING]);
  expect(other!.id < held!.id).toBe(true);
});

it('delivers nothing for a repeated key, whether or not the filters are known', async () => {
  await subscribe('{"n":1}');
  const event = anEvent({ n: 1 }, { producerId: 'k' });
  const [first, repeat] = await accept(event, anEvent({ n: 2 }, { producerId: 'k' }));
  expect(first).toMatchObject({ duplicate: false, deliveries: 1 });
  expect(repeat).toMatchObject({ duplicate: true, id: first!.id, deliveries: 1 });
  expect(await accept(event)).toMatchObject([{ duplicate: true, id: first!.id }]);
  expect(await toldOf(first!.id)).toHaveLength(1);
});

it('judges all events of a batch, however many kinds of filters they meet', async () => {
  const applications = await Promise.all(
    Array.from({ length: 60 }, () => anApplication(database, account)),
  );
  for (const [index, application] of applications.entries()) {
    await subscribe(`{"n":${index}}`, { application_id: application });
  }
  const reported = applications.map((applicationId, n) => anEvent({ n }, { applicationId }));
  const results = await accept(...reported);
  expect(results.map(({ deliveries }) => deliveries)).toEqual(applications.map(() => 1));
});

it('stores nothing of an account whose filter changes again and again', async () => {
  const webhook = await subscribe('{"n":0}');
  const neighbour = await anAccount(database);
  let changes = 0;
  beforeStatement = async (name) => {
    if (name !== ACCEPT_FILTERED_EVENTS.name) return;
    changes += 1;
    await changeFilter(webhook, `{"n":${changes}}`);
  };
  const [held, stored] = await store.accept([anEvent({}), anEvent({}, { accountId: neighbour })]);
  expect(held).toBeInstanceOf(UnavailableError);
  expect(stored).toMatchObject({ accepted: true });
  expect(changes).toBe(11);
  const rows = await database.query('SELECT id FROM events WHERE account_id = $1', [account]);
  expect(rows).toEqual([]);
});

it('answers that an event may not be stored when PostgreSQL fails after others were stored', async () => {
  await subscribe('{"n":0}');
  const neighbour = await anAccount(database);
  beforeStatement = (name) =>
    name === 'events.filters'
      ? Promise.reject(Object.assign(new Error('gone'), { code: 'ECONNRESET' }))
      : Promise.resolve();
  const [held, stored] = await store.accept([anEvent({}), anEvent({}, { accountId: neighbour })]);
  expect(held).toBeInstanceOf(UnavailableError);
  expect(stored).toMatchObject({ accepted: true });
});
