import { createUser } from './accounts.js';
import type { TestDatabase } from './database.js';
import { type DescribedApi, type DescribedOperation, placesOf } from './described-api.js';
import { type Client, clientOf } from './http.js';

/** An installation that accounts are created on. */
export interface Installation {
  database: TestDatabase;
  /** Where the API is. */
  url: string;
  /** A user of the role platform. */
  platform: Client;
}

/** An account that owns one of every resource. */
export interface Belongings {
  username: string;
  /** `username:password` */
  auth: string;
  client: Client;
  /** The id of each resource, by its place in a path: `webhooks`, `applications/webhooks`. */
  ids: Map<string, string>;
}

type Maker = (account: Belongings, installation: Installation) => Promise<string>;

const anApplication = { name: 'Shop', voiceUrl: 'https://shop.example.com/voice' };
const aWebhook = {
  event: 'cdrCreated',
  resource: 'all',
  targetUrl: 'https://hooks.example.com/switchhook',
};

/** How to create one of each resource, each after those that it needs. */
const MAKERS: Record<string, Maker> = {
  users: async ({ client, username }) => {
    const answer = await client.get(`/v1/users/${username}`);
    return String(answer.json<{ id: number }>().id);
  },
  'users/credentials': async ({ client, username }) => {
    const answer = await client.get(`/v1/users/${username}`);
    return answer.json<{ credentials: { id: string }[] }>().credentials[0]!.id;
  },
  // Environments belong to everybody.
  environments: () => Promise.resolve('1'),
  applications: ({ client }) => made(client, '/v1/applications', anApplication),
  'applications/webhooks': ({ client, ids }) =>
    made(client, `/v1/applications/${ids.get('applications')!}/webhooks`, aWebhook),
  webhooks: ({ client }) => made(client, '/v1/webhooks', aWebhook),
  events: ({ ids }, { platform }) =>
    made(platform, '/v1/events', {
      event: 'cdrCreated',
      resource: 'call',
      applicationId: ids.get('applications'),
      data: { from: '14075550100' },
    }),
  deliveries: async ({ client, ids }, { database }) => {
    const answer = await client.get(`/v1/events/${ids.get('events')!}`);
    const { deliveries } = answer.json<{ deliveries: { id: string; webhookId: string }[] }>();
    const { id } = deliveries.find(({ webhookId }) => webhookId === ids.get('webhooks'))!;
    // No worker runs, so only the end of this lease allows it to be cancelled and redelivered.
    await database.query('UPDATE deliveries SET claimed_until = NULL WHERE id = $1', [id]);
    return id;
  },
  // One that has ended, because only one runs at a time.
  'overview/recoveries': async (_, { database }) => {
    const [recovery] = await database.query<{ id: string }>(
      `INSERT INTO recoveries (id, since, until, user_id, visited_at)
       SELECT new_uuid(now(), 1), now(), now(), id, now() FROM users LIMIT 1 RETURNING id`,
    );
    return recovery!.id;
  },
  erasures: ({ client }) => made(client, '/v1/erasures', { contains: 'nothing has this' }),
  replays: ({ client, ids }) =>
    made(client, `/v1/webhooks/${ids.get('webhooks')!}/replay`, { since: '2026-01-31T00:00:00Z' }),
};

/** Members of bodies that name a resource, and the resource's place. */
export const REFERENCES: Readonly<Record<string, string>> = {
  applicationId: 'applications',
  accountId: 'users',
  webhookId: 'webhooks',
};

/** @throws Error for a resource that this list cannot create */
export function requireMakersOf(paths: readonly string[]): void {
  const places = paths.flatMap((path) => placesOf(path).map(({ place }) => place));
  const unknown = places.filter((place) => !(place in MAKERS));
  if (unknown.length === 0) return;
  const list = [...new Set(unknown)].join(', ');
  throw new Error(`test/support/belongings.ts has to be told how to make one of: ${list}`);
}

/** Creates an account with one of every resource, or only those at some places. */
export async function accountWithEverything(
  installation: Installation,
  username: string,
  places: readonly string[] = Object.keys(MAKERS),
): Promise<Belongings> {
  const { auth } = await createUser(installation.database, username);
  const client = clientOf(installation.url, auth);
  const account: Belongings = { username, auth, client, ids: new Map() };
  for (const place of places) await makeAnother(account, place, installation);
  return account;
}

/** Replaces a resource that is gone. */
export async function makeAnother(
  account: Belongings,
  place: string,
  installation: Installation,
): Promise<void> {
  const make = MAKERS[place];
  if (!make) throw new Error(`nobody knows how to make one of ${place}`);
  account.ids.set(place, await make(account, installation));
}

/** A path with the chosen id at each place. */
export function pathWith({ path }: DescribedOperation, idAt: (place: string) => string): string {
  return placesOf(path).reduce(
    (filled, { name, place }) => filled.replace(`{${name}}`, idAt(place)),
    path,
  );
}

/** Bodies that would be valid for the resource's owner; undefined if the operation reads no body. */
export function bodiesOf(
  described: DescribedApi,
  one: DescribedOperation,
  caller: Pick<Belongings, 'ids'>,
): (object | undefined)[] {
  const examples = Object.values(described.bodyOf(one)?.examples ?? {});
  if (examples.length === 0) return [undefined];
  const owned = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(owned);
    if (typeof value !== 'object' || value === null) return value;
    const members = Object.entries(value).map(([name, member]) => {
      const place = REFERENCES[name];
      return [name, place === undefined ? owned(member) : caller.ids.get(place)] as const;
    });
    return Object.fromEntries(members);
  };
  return examples.map(({ value }) => owned(value) as object);
}

/** Numbers every resource from its own large start value, so that its number in an answer cannot be a coincidence. */
export async function numberUnmistakably(database: TestDatabase): Promise<void> {
  const sequences = await database.query<{ name: string }>(
    `SELECT c.oid::regclass::text AS name FROM pg_class c
     JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind = 'S' AND n.nspname = 'public' ORDER BY 1`,
  );
  for (const [index, { name }] of sequences.entries()) {
    await database.query('SELECT setval($1::regclass, $2)', [
      name,
      710_000_000 + index * 1_000_000,
    ]);
  }
}

async function made(client: Client, path: string, body: object): Promise<string> {
  const answer = await client.post(path, body);
  const id = answer.json<{ href?: string }>().href?.split('/').at(-1);
  if (id === undefined) throw new Error(`POST ${path}: ${answer.status} ${answer.text}`);
  return id;
}
