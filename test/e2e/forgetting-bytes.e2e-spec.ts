import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Schemas } from '#libs/client';
import { migrate, readConfig } from '#libs/runtime';
import { eventually } from '#tools/eventually';
import { ROOT } from '#tools/settings';
import { contextSchemas } from '../../apps/cli/src/context-schemas.js';
import { createUser } from '../support/accounts.js';
import { type Client, clientOf } from '../support/http.js';
import { programs, startApi, startWorker } from '../support/processes.js';
import { startReceiver } from '../support/receiver.js';
import { Postgres, RedisStore } from '../support/stores.js';

const NUMBER = '+14075550123';
const OTHER = '+14075550199';
const EVENTS = 400;

/** The commands of the page, by the comment before them. */
const PAGE = readFileSync(`${ROOT}/docs/operating/forgetting.md`, 'utf8');
const blockOf = (name: string) => PAGE.split(`<!-- ${name} -->`)[1]!.split('```')[1]!.slice(4);

let dir: string;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'switchhook-forgetting-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

/** The files below a directory that have a text. A server may remove some meanwhile. */
async function filesWith(root: string, text = NUMBER): Promise<string[]> {
  const names = await readdir(root, { recursive: true });
  const found = await Promise.all(
    names.map(async (name) => {
      const bytes = await readFile(join(root, name)).catch(() => undefined);
      return bytes?.includes(text) === true ? [name] : [];
    }),
  );
  return found.flat();
}

/** Runs commands as psql does: what a query before `\gexec` selects is run, too. */
async function runLikePsql(postgres: Postgres, text: string): Promise<void> {
  for (const [, command = '', end] of text.matchAll(/\s*([^;\\]+?)\s*(;|\\gexec)/g)) {
    const rows = await postgres.query<{ format: string }>(command);
    if (end === ';') continue;
    expect(rows.length).toBeGreaterThan(0);
    for (const { format } of rows) await postgres.query(format);
  }
}

it('leaves no byte of an erased text in PostgreSQL, Redis or a log', async () => {
  for (const name of ['postgres', 'redis']) await mkdir(join(dir, name));
  const postgres = new Postgres(join(dir, 'postgres'), programs);
  const redis = new RedisStore(join(dir, 'redis'), programs);
  await Promise.all([postgres.start(), redis.start()]);
  const url = postgres.url.toString();
  await migrate(readConfig({ DATABASE_URL: url }), contextSchemas);
  const environment = {
    DATABASE_URL: url,
    REDIS_URL: redis.url.toString(),
    DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8',
    DELIVERY_RETRY_SCHEDULE: '1h',
    LOG_LEVEL: 'debug',
    LOG_EVENTS: 'all',
  };
  const processes = [await startApi(environment), await startWorker(environment)] as const;
  const receiver = await startReceiver();
  receiver.answering = ({ body }, response) => {
    const [text = ''] = /\+\d+/.exec(body) ?? [];
    response.writeHead(body.includes('fails') ? 500 : 200, { 'x-number': text });
    response.end(`thanks for ${text}`);
  };
  const [platform, customer, account] = await clients(postgres, processes[0].url);
  const targetUrl = receiver.url;
  await customer.post('/v1/webhooks', { event: 'cdrCreated', resource: 'all', targetUrl });
  for (let from = 0; from < EVENTS; from += 50) {
    const events = Array.from({ length: 50 }, (_, n) => anEvent(account, from + n));
    expect((await platform.post('/v1/events/batch', { events })).status).toBe(202);
  }
  await eventually(
    () => postgres.query<{ n: number }>('SELECT count(*)::integer AS n FROM attempts'),
    ([row]) => row?.n === EVENTS,
    { ms: 60_000 },
  );
  await postgres.query('ANALYZE');
  await postgres.query('CHECKPOINT');
  const before = await filesWith(postgres.data);
  expect(before.some((file) => file.startsWith('pg_wal'))).toBe(true);
  expect(before.filter((file) => file.startsWith('base')).length).toBeGreaterThan(3);

  const headers = { 'idempotency-key': 'once' };
  const answer = await customer.post('/v1/erasures', { contains: NUMBER }, { headers });
  const { pathname } = new URL(answer.json<{ href: string }>().href);
  const erasure = await eventually(
    async () => (await customer.get(pathname)).json<Schemas['Erasure']>(),
    ({ state }) => state === 'completed',
    { ms: 60_000 },
  );
  expect(erasure).toMatchObject({ events: EVENTS / 2 });
  expect(erasure.producerIds).toBeGreaterThan(0);
  expect(erasure.deliveries).toBeGreaterThan(0);
  await postgres.query('VACUUM');
  await postgres.query('CHECKPOINT');
  // If this fails, a later version of PostgreSQL needs less than the page asks for.
  expect(await filesWith(postgres.data)).not.toEqual([]);
  await runLikePsql(postgres, blockOf('vacuum'));
  await runLikePsql(postgres, blockOf('log'));
  await redis.save();
  // The other number shows that the search finds what is there.
  expect(await filesWith(dir)).toEqual([]);
  expect(await filesWith(dir, OTHER)).not.toEqual([]);
  for (const one of [...processes, postgres]) {
    expect(one.output()).not.toContain(NUMBER);
    expect(one.output()).not.toBe('');
  }
  await Promise.all(processes.map((one) => one.stop()));
  await receiver.close();
  await Promise.all([postgres.stop(), redis.kill()]);
  expect(await filesWith(dir)).toEqual([]);
});

async function clients(postgres: Postgres, url: string): Promise<[Client, Client, string]> {
  const database = { query: postgres.query.bind(postgres) };
  const producer = await createUser(database, 'switch', 'platform');
  const { id, auth } = await createUser(database, 'customer');
  return [clientOf(url, producer.auth), clientOf(url, auth), id];
}

/** Every other one is about the number, in rows of their own or in TOAST, some with a key, and some of which fail. */
function anEvent(accountId: string, n: number): object {
  const number = n % 2 === 0 ? NUMBER : OTHER;
  const big = n % 20 === 0 ? randomBytes(30_000).toString('base64') : '';
  const data = { to: number, big, ...(n % 7 === 0 && { fails: true }) };
  return {
    ...{ event: 'cdrCreated', resource: 'call', accountId, data },
    ...(n % 3 === 0 && { id: `sms-${number}-${n}` }),
  };
}
