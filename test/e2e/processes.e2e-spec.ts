import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Schemas } from '#libs/client';
import { eventually } from '#tools/eventually';
import { freePort } from '#tools/net';
import { identify } from '#tools/processes';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import type { Environment } from '../support/environment.js';
import { type Client, clientOf, send } from '../support/http.js';
import { launch, startApi, startWorker } from '../support/processes.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { aSubscription } from '../support/rows.js';
import type { ServiceProcess } from '../support/service-process.js';

const EVENTS = 30;

let database: TestDatabase;
let environment: Environment;

beforeAll(async () => {
  database = await createTestDatabase();
  environment = { DATABASE_URL: database.url, DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8' };
});
afterAll(() => database.drop());

const linesOf = (service: ServiceProcess, msg: string) =>
  service.log().filter((line) => line.msg === msg);

/** Waits until this many of its processes have started. @returns the pids of all started ones */
async function started(service: ServiceProcess, count: number): Promise<number[]> {
  const lines = await eventually(
    () => linesOf(service, 'started'),
    (all) => all.length === count,
  );
  return lines.map(({ pid }) => Number(pid));
}

const alive = (pids: number[]) => pids.filter((pid) => identify(pid) !== undefined);

describe('an API of two processes and a worker of three', () => {
  let api: ServiceProcess;
  let worker: ServiceProcess;
  let metricsPorts: [api: number, worker: number];
  let apiPids: number[];
  let workerPids: number[];
  let receiver: Receiver;
  let platform: Client;
  let customerId: string;

  beforeAll(async () => {
    receiver = await startReceiver();
    metricsPorts = [await freePort(), await freePort()];
    const [ofApi, ofWorker] = metricsPorts.map((port) => ({
      ...environment,
      METRICS_PORT: String(port),
    }));
    [api, worker] = await Promise.all([
      startApi({ ...ofApi, API_PROCESSES: '2' }),
      startWorker({ ...ofWorker, WORKER_PROCESSES: '3' }),
    ]);
    [apiPids, workerPids] = await Promise.all([started(api, 2), started(worker, 3)]);
    platform = clientOf(api.url, (await createUser(database, 'switch', 'platform')).auth);
    ({ id: customerId } = await createUser(database, 'customer'));
  });
  afterAll(async () => {
    await Promise.all([api.stop(), worker.stop()]);
    await receiver.close();
  });

  const overview = async () => (await platform.get('/v1/overview')).json<Schemas['Overview']>();
  const pidsOf = (shown: { id: string }[]) =>
    shown.map(({ id }) => Number(id.split(':')[1])).sort();

  it('shows each process in the overview', async () => {
    const { apis, workers } = await eventually(
      overview,
      (shown) => shown.apis.length === 2 && shown.workers.length === 3,
    );
    expect(pidsOf(apis)).toEqual([...apiPids].sort());
    expect(pidsOf(workers)).toEqual([...workerPids].sort());
  });

  it('answers requests in both processes of the API', async () => {
    for (let sent = 0; sent < 10; sent += 1) await platform.get('/v1/overview');
    const answering = () => new Set(linesOf(api, 'request').map(({ pid }) => pid));
    await eventually(answering, ({ size }) => size === 2);
  });

  it('delivers each event once', async () => {
    await aSubscription(database, customerId, { target_url: receiver.url });
    const event = { event: 'cdrCreated', resource: 'call', accountId: customerId, data: {} };
    for (let sent = 0; sent < EVENTS; sent += 1) {
      expect((await platform.post('/v1/events', event)).status).toBe(202);
    }
    await receiver.until((received) => received.length >= EVENTS);
    await eventually(overview, ({ pending }) => pending === 0);
    expect(receiver.received).toHaveLength(EVENTS);
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(EVENTS);
  });

  it('serves the metrics of all processes in one answer', async () => {
    const [ofApi, ofWorker] = metricsPorts.map(
      (port) => () => send('GET', `http://127.0.0.1:${port}/metrics`).then(({ text }) => text),
    );
    const accepted = 'switchhook_events_total{event="cdrCreated",result="accepted"}';
    expect(await ofApi!()).toContain(`\n${accepted} ${EVENTS}\n`);
    const attempts = `switchhook_attempts_total{outcome="2xx"} ${EVENTS}`;
    const pending = 'switchhook_pending_deliveries 0';
    const text = await eventually(ofWorker!, (shown) =>
      [attempts, pending].every((line) => shown.includes(`\n${line}\n`)),
    );
    expect(text).toMatch(/^switchhook_build_info\{.+\} 1$/m);
    expect(text).toMatch(/^nodejs_eventloop_lag_p99_seconds [\d.e-]+$/m);
  });

  it('replaces a killed process, while the other one answers', async () => {
    process.kill(apiPids[0]!, 'SIGKILL');
    const ended = () => linesOf(api, 'process ended, starting another');
    const [line] = await eventually(ended, ({ length }) => length === 1);
    expect(line).toMatchObject({ level: 'error', child: apiPids[0], signal: 'SIGKILL' });
    const statuses: number[] = [];
    await eventually(
      async () => statuses.push((await send('GET', `${api.url}/health/ready`)).status),
      () => linesOf(api, 'started').length === 3,
    );
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
    apiPids = (await started(api, 3)).slice(1);
    expect(alive(apiPids)).toHaveLength(2);
  });

  it.each([
    ['configuration: LOG_LEVEL: ', () => ({ LOG_LEVEL: 'loud' })],
    ['configuration: API_PROCESSES: ', () => ({ API_PROCESSES: '65' })],
    // A fault that only the first process can find.
    ['configuration: PORT: port ', () => ({ PORT: new URL(api.url).port })],
  ])('reports the fault "%s…" once, and exits with 1', async (reason, faulty) => {
    const failing = await launch('api', { ...environment, API_PROCESSES: '2', ...faulty() });
    expect(await failing.exited).toBe('exited with code 1');
    const fatal = failing.log().filter(({ level }) => level === 'fatal');
    expect(fatal).toHaveLength(1);
    expect(fatal[0]!.msg).toContain(reason);
  });

  it('ends all processes in order on SIGTERM', async () => {
    expect(await api.stop()).toBe('exited with code 0');
    expectStopped(api, apiPids);
  });

  it('ends all processes in order on Ctrl-C, which reaches each of them', async () => {
    for (const pid of [worker.pid, ...workerPids]) process.kill(pid, 'SIGINT');
    expect(await worker.exited).toBe('exited with code 0');
    expectStopped(worker, workerPids);
    expect(linesOf(worker, 'stopping').map(({ signal }) => signal)).not.toContain('SIGINT');
  });

  function expectStopped(service: ServiceProcess, pids: number[]): void {
    expect(alive([service.pid, ...pids])).toEqual([]);
    const codes = linesOf(service, 'stopped').map(({ pid, code }) => [pid, code]);
    expect(codes.sort()).toEqual(pids.map((pid) => [pid, 0]).sort());
  }
});

it('ends all processes in order if the primary is killed', async () => {
  const worker = await startWorker({ ...environment, WORKER_PROCESSES: '2' });
  const pids = await started(worker, 2);
  await worker.kill();
  await eventually(() => alive(pids).length === 0);
  // Without it, Node would end them at once.
  expect(linesOf(worker, 'stopping').map(({ signal }) => signal)).toEqual(['SIGTERM', 'SIGTERM']);
  expect(linesOf(worker, 'stopped').map(({ code }) => code)).toEqual([0, 0]);
});

it('drops connections that no process of a full API may have', async () => {
  const METRICS_PORT = String(await freePort());
  const settings = { ...environment, API_PROCESSES: '2', MAX_CONNECTIONS: '1', METRICS_PORT };
  const api = await startApi(settings);
  await started(api, 2);
  const sockets: Socket[] = [];
  let closed = 0;
  for (let opened = 0; opened < 4; opened += 1) {
    const socket = connect(api.port, '127.0.0.1').on('error', () => undefined);
    socket.resume().once('close', () => (closed += 1));
    await once(socket, 'connect');
    sockets.push(socket);
  }
  await eventually(() => closed === 2);
  const { text } = await send('GET', `http://127.0.0.1:${METRICS_PORT}/metrics`);
  expect(text).toMatch(/^switchhook_dropped_connections_total 2$/m);
  for (const socket of sockets) socket.destroy();
  expect(await api.stop()).toBe('exited with code 0');
});
