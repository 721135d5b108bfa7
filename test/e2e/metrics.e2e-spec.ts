import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { answerOf, type Client, type Schemas } from '#libs/client';
import { requireProgram } from '#tools/apt';
import { eventually } from '#tools/eventually';
import { freePort } from '#tools/net';
import { ROOT } from '#tools/settings';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { EventStream } from '../support/event-stream.js';
import { send } from '../support/http.js';
import { startApi, startWorker } from '../support/processes.js';
import type { ServiceProcess } from '../support/service-process.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { typedClientOf } from '../support/typed-client.js';

await requireProgram('promtool', 'prometheus');

let database: TestDatabase;
let api: ServiceProcess;
let worker: ServiceProcess;
let receiver: Receiver;
let platform: Client;
let customer: Client;
let accountId: string;
let customerAuth: string;
let apiMetrics: string;
let workerMetrics: string;

beforeAll(async () => {
  database = await createTestDatabase();
  const [apiPort, workerPort] = [await freePort(), await freePort()];
  apiMetrics = `http://127.0.0.1:${apiPort}/metrics`;
  workerMetrics = `http://127.0.0.1:${workerPort}/metrics`;
  const environment = {
    DATABASE_URL: database.url,
    DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8',
    DELIVERY_RETRY_SCHEDULE: '50ms',
    DELIVERY_TIMEOUT_MS: '1000',
  };
  [api, worker] = await Promise.all([
    startApi({ ...environment, METRICS_PORT: String(apiPort) }),
    startWorker({ ...environment, METRICS_PORT: String(workerPort) }),
  ]);
  receiver = await startReceiver();
  const account = await createUser(database, 'customer');
  ({ id: accountId, auth: customerAuth } = account);
  customer = typedClientOf(api.url, account.auth);
  const { auth } = await createUser(database, 'platform', 'platform');
  platform = typedClientOf(api.url, auth);
});
afterAll(async () => {
  await Promise.all([api.stop(), worker.stop()]);
  await receiver.close();
  await database.drop();
});

/** The samples of a process, by name and labels as written. */
async function metrics(url: string): Promise<Record<string, number>> {
  const { text } = await send('GET', url);
  const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return Object.fromEntries(
    samples.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]),
  );
}

async function report(change: Partial<Schemas['ReportedEvent']> = {}): Promise<void> {
  const event = { event: 'smsdlr', resource: 'sms', accountId, data: {} } as const;
  await platform.POST('/v1/events', { body: { ...event, ...change } });
}

it('counts events by their outcome', async () => {
  await report({ id: 'a' });
  await report({ id: 'a' });
  await report({ accountId: '999999' });
  expect(await metrics(apiMetrics)).toMatchObject({
    'switchhook_events_total{event="smsdlr",result="accepted"}': 1,
    'switchhook_events_total{event="smsdlr",result="duplicate"}': 1,
    'switchhook_events_total{event="smsdlr",result="refused"}': 1,
  });
});

it('has the state of PostgreSQL, as both processes see it', async () => {
  for (const url of [apiMetrics, workerMetrics]) {
    const found = await metrics(url);
    expect(found).toMatchObject({
      switchhook_database_primaries: 1,
      switchhook_database_synchronous: 0,
    });
    expect(Math.abs(found.switchhook_clock_offset_seconds ?? NaN)).toBeLessThan(1);
  }
});

it('counts attempts and deliveries by their outcome, and measures their duration', async () => {
  const body = { event: 'smsdlr', resource: 'all', targetUrl: receiver.url } as const;
  await answerOf(customer.POST('/v1/webhooks', { body }));
  await report();
  await receiver.until((received) => received.length === 1);
  receiver.answering = (_, response) => response.writeHead(404).end();
  await report();
  const after = await eventually(
    () => metrics(workerMetrics),
    // Its job leaves the queue a moment after its outcome was recorded.
    (now) =>
      now['switchhook_deliveries_finished_total{state="exhausted"}'] === 1 &&
      now.switchhook_queue_jobs === 0,
  );
  expect(after).toMatchObject({
    'switchhook_attempts_total{outcome="2xx"}': 1,
    'switchhook_attempts_total{outcome="4xx"}': 2,
    'switchhook_deliveries_finished_total{state="succeeded"}': 1,
    switchhook_attempt_duration_seconds_count: 3,
    switchhook_first_attempt_delay_seconds_count: 2,
    switchhook_queue_jobs: 0,
    switchhook_pending_deliveries: 0,
    switchhook_oldest_due_age_seconds: 0,
    switchhook_oldest_startable_age_seconds: 0,
    switchhook_slots: 400,
    switchhook_slots_used: 0,
    switchhook_hold: 0,
  });
  expect(after.nodejs_eventloop_lag_seconds).toBeGreaterThanOrEqual(0);
});

it('reports pending deliveries, their age, and recovered leases', async () => {
  // Held, so that it is due and waits; the test itself ends the hold.
  await database.query(`UPDATE webhooks SET hold_until = now() + interval '1 hour'`);
  await report();
  const waiting = await metrics(workerMetrics);
  expect(waiting).toMatchObject({
    switchhook_pending_deliveries: 1,
    switchhook_oldest_due_age_seconds: 0,
    switchhook_expired_claims_total: 0,
  });
  await worker.kill();
  await database.query(`UPDATE deliveries SET next_attempt_at = now() - interval '1 hour',
    claimed_until = now() - interval '1 minute' WHERE state = 'pending'`);
  await database.query('UPDATE webhooks SET hold_until = NULL');
  const port = await freePort();
  workerMetrics = `http://127.0.0.1:${port}/metrics`;
  worker = await startWorker({
    DATABASE_URL: database.url,
    METRICS_PORT: String(port),
    DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8',
  });
  await eventually(
    () => metrics(workerMetrics),
    (now) => now.switchhook_expired_claims_total === 1,
  );
});

it('measures requests by method, route and status', async () => {
  const of = (method: string, route: string, status: number | '') =>
    `http_server_request_duration_seconds_count{http_request_method="${method}",` +
    `http_route="${route}",http_response_status_code="${status}"}`;
  const before = await metrics(apiMetrics);
  await send('GET', `${api.url}/v1/webhooks/123456`);
  await send('GET', `${api.url}/v1/nothing/123456`);
  await send('GET', `${api.url}/health/ready`);
  const stream = await EventStream.open(`${api.url}/v1/stream`, customerAuth);
  stream.close();
  await report();
  const after = await eventually(
    () => metrics(apiMetrics),
    (now) =>
      now.http_server_active_requests === 0 &&
      now[of('POST', '/v1/events', 202)] === (before[of('POST', '/v1/events', 202)] ?? 0) + 1,
  );
  expect(after).toMatchObject({
    [of('GET', '/v1/webhooks/:id', 401)]: 1,
  });
  expect(Object.keys(after).filter((name) => /health|stream|123456/.test(name))).toEqual([]);
  // Between releases, builds of different code tell themselves apart.
  const [build] = Object.keys(after).filter((name) => name.startsWith('switchhook_build_info'));
  expect(build).toMatch(/^switchhook_build_info\{version="\d+\.\d+\.\d+(-dev\+[\w.-]+)?"\}$/);
});

it('exports metrics that promtool accepts', async () => {
  for (const url of [apiMetrics, workerMetrics]) {
    const input = (await send('GET', url)).text;
    const { status, output } = spawnSync('promtool', ['check', 'metrics'], { input });
    expect([status, output.join('')]).toEqual([0, '']);
  }
});

/** The names in the first column of a table in docs/operating/monitor.md, with the process that they belong to. */
function documented(firstColumn: string): string[] {
  const page = readFileSync(join(ROOT, 'docs/operating/monitor.md'), 'utf8');
  const [, rows = ''] = page.split(new RegExp(`^\\| ${firstColumn} .*\n.*\n`, 'm'));
  const cells = [...rows.split('\n\n')[0]!.matchAll(/^\| `(\w[\w-]*)` +\| (\w+)/gm)];
  return cells.map(([, name, process]) => `${name} ${process!.toLowerCase()}`).sort();
}

/** What processes export, with the process; `both` if both do. */
function inProcesses([ofApi, ofWorker]: readonly string[][]): string[] {
  return [...new Set([...ofApi!, ...ofWorker!])]
    .map((name) => {
      if (!ofWorker!.includes(name)) return `${name} api`;
      return ofApi!.includes(name) ? `${name} both` : `${name} worker`;
    })
    .sort();
}

it('docs/operating/monitor.md lists every metric of ours, and every background task', async () => {
  const texts = await Promise.all([apiMetrics, workerMetrics].map((url) => send('GET', url)));
  const found = (pattern: RegExp) =>
    texts.map(({ text }) => [...text.matchAll(pattern)].map(([, name]) => name!));
  const metricNames = found(/^# TYPE ((?:switchhook|http_server)_\w+)/gm);
  const listed = documented('metric').filter((row) => !row.startsWith('nodejs_'));
  expect(listed).toEqual(inProcesses(metricNames));
  const tasks = found(/^switchhook_task_last_success_timestamp_seconds{task="([\w-]+)"}/gm);
  expect(documented('`task`')).toEqual(inProcesses(tasks));
});

it('serves nothing else on the metrics port', async () => {
  expect((await send('GET', apiMetrics.replace('metrics', 'health/live'))).status).toBe(404);
  expect((await send('POST', apiMetrics)).status).toBe(404);
});

it.each(['dashboard.json', 'alerts.yml'])('exports every metric that %s uses', async (file) => {
  const text = readFileSync(new URL(`../../tools/monitoring/${file}`, import.meta.url), 'utf8');
  const asked = new Set(text.match(/\b(?:switchhook|nodejs|process|http_server)_[a-z0-9_]+/g));
  const texts = await Promise.all([apiMetrics, workerMetrics].map((url) => send('GET', url)));
  const types = texts.flatMap((answer) => [...answer.text.matchAll(/^# TYPE (\S+) (\w+)$/gm)]);
  const known = new Set(
    types.flatMap(([, name = '', type]) =>
      type === 'histogram' ? [`${name}_bucket`, `${name}_count`] : name,
    ),
  );
  expect(asked.size).toBeGreaterThan(4);
  expect([...asked].filter((name) => !known.has(name))).toEqual([]);
});
