import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ApiDocument,
  DescribedApi,
  type DescribedOperation,
  placesOf,
} from '../../support/described-api.js';
import { type Answer, basic, request } from '../../support/http.js';
import { type Account, type Deployment, PLATFORM } from '../harness/deployment.js';

const STATES = ['pending', 'parked', 'succeeded', 'exhausted', 'cancelled'];
const HOUR_MS = 3_600_000;
/** Nothing listens there, which causes retries and an open circuit. */
export const CLOSED = 'http://127.0.0.1:1025/closed';
const ORDER = ['GET', 'POST', 'PUT', 'DELETE'];

/** What a tour needs to know about its account. */
interface Known {
  account: Account;
  /** Ids by place in a path, in the form of `placesOf`. */
  ids: Map<string, string>;
}

/**
 * Calls every route of the API as an account, or as the platform where necessary, with each of its filters.
 * @param builder has most applications
 * @returns a line for each refused call
 */
export async function tour(
  deployment: Deployment,
  account: Account,
  builder: Account,
): Promise<string[]> {
  const url = deployment.apis[0]!.url;
  const text = (await request('GET', `${url}/openapi.json`, {})).text;
  const api = new DescribedApi(JSON.parse(text) as ApiDocument);
  const refused: string[] = [];
  const call = async (method: string, path: string, authorization: string, body?: object) => {
    // Its own connection, with the answer's ETag, so that it changes what it has read.
    const headers: Record<string, string> = { authorization };
    if (method === 'PUT') {
      const { etag } = (await request('GET', url + path, { headers })).headers;
      if (etag !== undefined) headers['if-match'] = etag;
    }
    if (method === 'POST') headers['idempotency-key'] = crypto.randomUUID();
    const answer = await request(method, url + path, { headers, ...(body && { body }) });
    if (answer.status >= 400) {
      refused.push(`${method} ${path}: ${String(answer.status)} ${answer.text.slice(0, 200)}`);
    }
    return answer;
  };
  const known = await knownOf(account, call);
  const operations = api.operations
    .filter(({ path }) => path.startsWith('/v1/'))
    .toSorted(
      (one, other) =>
        ORDER.indexOf(one.method) - ORDER.indexOf(other.method) ||
        // Resources of an application are deleted before it.
        other.path.length - one.path.length,
    );
  for (const operation of operations) {
    const { method } = operation;
    const isForPlatform = api.isForPlatform(operation) || operation.path.startsWith('/v1/users');
    const authorization = isForPlatform ? basic(PLATFORM) : account.authorization;
    if (method === 'DELETE') await replace(known, operation, call);
    // The previous one has completed.
    if (operation.path === '/v1/replays/{id}/cancel') {
      known.ids.set('replays', await replayed(known, call));
    }
    const path = pathOf(operation, known);
    if (api.isEndless(operation)) {
      await listen(url + path, authorization);
      continue;
    }
    const body = bodyOf(api, operation, known);
    await call(method, path, authorization, body);
    if (method !== 'GET') continue;
    for (const search of searchesOf(api, operation, known)) {
      await call(method, `${path}?${search}`, authorization);
      if (isForPlatform || !/^\/v1\/(deliveries|events)$/.test(path)) continue;
      if (!search.startsWith('accountId')) await call(method, `${path}?${search}`, basic(PLATFORM));
    }
  }
  await call('GET', '/v1/applications?limit=100', builder.authorization);
  await sendMissed(known, call);
  await testWhilePaused(known, call);
  await useSession(deployment, account);
  return refused;
}

type CallApi = (
  method: string,
  path: string,
  authorization: string,
  body?: object,
) => Promise<Answer>;

async function knownOf(account: Account, call: CallApi): Promise<Known> {
  const { authorization } = account;
  const first = async (path: string) => {
    const rows = (await call('GET', path, authorization)).json<
      { id: string; eventId?: string }[]
    >();
    return rows[0] ?? { id: '0' };
  };
  const webhook = account.subscriptions[0]!.split('/').at(-1)!;
  const delivery = await first(`/v1/deliveries?state=exhausted&webhookId=${webhook}`);
  const ids = new Map([
    ['webhooks', webhook],
    ['deliveries', delivery.id],
    ['waiting', (await first(`/v1/deliveries?state=pending&webhookId=${webhook}`)).id],
    ['events', delivery.eventId ?? ''],
    ['applications', (await first('/v1/applications')).id],
    ['environments', '1'],
    ['account', account.id],
  ]);
  const known = { account, ids };
  await made(known, 'applications/webhooks', call);
  await made(known, 'spare', call);
  await made(known, 'users', call);
  await made(known, 'users/credentials', call);
  ids.set('replays', await replayed(known, call));
  return known;
}

/** Creates a resource and remembers its id for its place. */
async function made({ account, ids }: Known, place: string, call: CallApi): Promise<void> {
  const webhook = { event: 'cdrCreated', resource: 'call', targetUrl: CLOSED };
  const user = { username: `tour-${crypto.randomUUID()}`, password: 'tour-secret' };
  const ways: Record<string, [path: string, body: object]> = {
    spare: ['/v1/webhooks', webhook],
    applications: ['/v1/applications', { name: 'Tour', voiceUrl: 'https://example.com/' }],
    'applications/webhooks': [`/v1/applications/${ids.get('applications')!}/webhooks`, webhook],
    users: ['/v1/users', user],
    'users/credentials': [`/v1/users/${ids.get('users')!}/credentials`, {}],
  };
  const way = ways[place];
  if (!way) return;
  const isUser = place.startsWith('users');
  const auth = isUser ? basic(PLATFORM) : account.authorization;
  const answer = await call('POST', way[0], auth, way[1]);
  ids.set(place, answer.json<{ href?: string }>().href?.split('/').at(-1) ?? '');
}

async function replayed({ account, ids }: Known, call: CallApi): Promise<string> {
  const body = { since: ago(HOUR_MS), until: ago(HOUR_MS / 2) };
  const path = `/v1/webhooks/${ids.get('webhooks')!}/replay`;
  const answer = await call('POST', path, account.authorization, body);
  return answer.json<{ href?: string }>().href?.split('/').at(-1) ?? '';
}

/** Deletes only resources created for that, except a session and the subscription with all deliveries. */
async function replace(known: Known, { path }: DescribedOperation, call: CallApi): Promise<void> {
  const place = placesOf(path).at(-1)?.place;
  if (place !== undefined && place !== 'webhooks') await made(known, place, call);
}

function pathOf({ method, path }: DescribedOperation, { ids }: Known): string {
  return placesOf(path).reduce((all, { name, place }) => {
    const isSpare = place === 'webhooks' && method === 'PUT';
    const isWaiting = path.endsWith('/cancel') && place === 'deliveries';
    const known = isSpare ? 'spare' : isWaiting ? 'waiting' : place;
    return all.replace(`{${name}}`, ids.get(known) ?? '0');
  }, path);
}

/** Uses each filter alone, and each state. */
function searchesOf(api: DescribedApi, operation: DescribedOperation, { ids }: Known): string[] {
  // The load by account covers seven days at most.
  const days = operation.path === '/v1/overview/accounts' ? 6 : 20;
  const values: Record<string, string[]> = {
    state: STATES,
    since: [ago(days * 24 * HOUR_MS)],
    until: [ago(HOUR_MS)],
    limit: ['100'],
    after: [],
    webhookId: [ids.get('webhooks')!],
    missedBy: [ids.get('webhooks')!],
    applicationId: [ids.get('applications')!],
    accountId: [ids.get('account')!],
    resourceId: [ids.get('webhooks')!],
    interval: ['hour'],
  };
  return api.parametersOf(operation, 'query').flatMap(({ name, schema }) => {
    const own = values[name] ?? (schema.enum ?? schema.examples ?? []).map(String);
    return own.map((value) => `${name}=${encodeURIComponent(value)}`);
  });
}

function bodyOf(
  api: DescribedApi,
  operation: DescribedOperation,
  { account, ids }: Known,
): object | undefined {
  const event = {
    ...{ event: 'cdrCreated', resource: 'call', accountId: ids.get('account') },
    ...{ id: crypto.randomUUID(), data: { from: '14075550100' } },
  };
  const [username, password] = pairOf(account);
  const own: Record<string, object> = {
    'POST /v1/events': event,
    'POST /v1/events/batch': { events: [event, { ...event, id: crypto.randomUUID() }] },
    'POST /v1/events/{id}/deliveries': { webhookId: ids.get('spare') },
    'POST /v1/session': { username, password },
    'POST /v1/users': { username: `tour-${crypto.randomUUID()}`, password: 'tour-secret' },
    'POST /v1/webhooks/{id}/replay': { since: ago(HOUR_MS / 2) },
    'POST /v1/deliveries/redeliver': { since: ago(HOUR_MS / 4) },
    'POST /v1/deliveries/send': { since: ago(HOUR_MS / 4) },
    'PUT /v1/webhooks/{id}': { enabled: false },
  };
  const example = Object.values(api.bodyOf(operation)?.examples ?? {})[0]?.value;
  return own[`${operation.method} ${operation.path}`] ?? example;
}

/** Sends a new subscription what it has missed. */
async function sendMissed(known: Known, call: CallApi): Promise<void> {
  const { authorization } = known.account;
  await made(known, 'spare', call);
  const path = `/v1/webhooks/${known.ids.get('spare')!}/replay`;
  const body = { since: ago(HOUR_MS / 4), missed: true };
  await call('POST', path, authorization, { ...body, dryRun: true });
  await call('POST', path, authorization, body);
}

/** A test is sent even if its subscription is paused. */
async function testWhilePaused(known: Known, call: CallApi): Promise<void> {
  const { authorization } = known.account;
  await made(known, 'spare', call);
  const path = `/v1/webhooks/${known.ids.get('spare')!}`;
  await call('POST', `${path}/pause`, authorization);
  await call('POST', `${path}/test`, authorization, {});
}

/** A session that was idle for a while, and its end. */
async function useSession(deployment: Deployment, account: Account): Promise<void> {
  const { url: origin } = deployment.apis[0]!;
  const url = `${origin}/v1/session`;
  const [username, password] = pairOf(account);
  const { headers } = await request('POST', url, { body: { username, password } });
  const cookie = String(headers['set-cookie']).split(';', 1)[0]!;
  const own = { cookie, 'sec-fetch-site': 'same-origin' };
  const { status } = await request('GET', `${origin}/v1/webhooks`, { headers: own });
  if (status !== 200) throw new Error(`the session was refused with ${String(status)}`);
  await request('DELETE', url, { headers: own });
}

function pairOf({ authorization }: Account): string[] {
  return Buffer.from(authorization.slice('Basic '.length), 'base64').toString().split(':');
}

async function listen(url: string, authorization: string): Promise<void> {
  const signal = AbortSignal.timeout(2_000);
  const answer = await fetch(url, { headers: { authorization }, signal });
  await answer.text().catch(() => undefined);
  await sleep(0);
}

function ago(ms: number): string {
  return new Date(Date.now() - ms).toISOString();
}
