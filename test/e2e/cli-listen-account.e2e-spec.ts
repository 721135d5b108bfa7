import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { Webhook as Signature } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Schemas } from '#libs/client';
import { eventually } from '#tools/eventually';
import { createUser } from '../support/accounts.js';
import { RunningCommand, runCli } from '../support/command-line.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { type Client, clientOf } from '../support/http.js';
import { startApi, startWorker } from '../support/processes.js';
import type { ServiceProcess } from '../support/service-process.js';
import { type Received, type Receiver, startReceiver } from '../support/receiver.js';

let database: TestDatabase;
let api: ServiceProcess;
let worker: ServiceProcess;
let receiver: Receiver;
let platform: Client;
let customer: Client;
let account: { id: string; auth: string };
let name: string;
let customers = 0;
const running: RunningCommand[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  const environment = {
    DATABASE_URL: database.url,
    DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8',
  };
  [api, worker] = await Promise.all([startApi(environment), startWorker(environment)]);
  platform = clientOf(api.url, (await createUser(database, 'platform', 'platform')).auth);
});
afterAll(async () => {
  await Promise.all([api.stop(), worker.stop()]);
  await database.drop();
});
beforeEach(async () => {
  receiver = await startReceiver();
  customers += 1;
  name = `customer-${customers}`;
  account = await createUser(database, name);
  customer = clientOf(api.url, account.auth);
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((command) => command.stop()));
  await receiver.close();
});

const login = () => ['--url', api.url, '--user', name, '--password-stdin'];
const input = () => account.auth.slice(account.auth.indexOf(':') + 1);

/** Runs a command as the customer. */
const run = (...args: string[]) => runCli([...args, ...login()], { input: input() });

function start(...args: string[]): RunningCommand {
  const command = new RunningCommand([...args, ...login()], { input: input() });
  running.push(command);
  return command;
}

async function report(data = '{}', event = 'cdrCreated'): Promise<string> {
  const body = `{"event":"${event}","resource":"call","accountId":"${account.id}","data":${data}}`;
  return lastSegment((await platform.post('/v1/events', body)).json());
}

const lastSegment = ({ href }: { href?: string }) => href!.split('/').at(-1)!;

describe('listen without a port', () => {
  const subscriptions = async () =>
    (await customer.get('/v1/webhooks')).json<Schemas['Webhook'][]>();

  function expectSignedWith(secret: string, { body, headers }: Received): void {
    const verify = () => new Signature(secret).verify(body, headers as Record<string, string>);
    expect(verify).not.toThrow();
  }

  it('prints notifications exactly as a worker would send them, without being reachable', async () => {
    const command = start('listen', '--json');
    const [, secret] = await command.printed(/^\{"listeningTo":.*,"secret":"(whsec_.*)"\}\n/);
    const own = await subscriptions();
    expect(own.map(({ event, paused }) => [event, paused])).toEqual([
      ['smsdlr', true],
      ['cdrCreated', true],
      ['cdrRated', true],
    ]);
    const data = '{"n":12345678901234567890, "n":1.10}';
    const event = await report(data);
    const [line] = await command.printed(/\{"at".*\n/);
    const printed = JSON.parse(line) as { headers: Record<string, string>; body: string };
    const webhook = own.find((one) => one.event === 'cdrCreated')!;
    // The same subscription, now with a target that can be reached.
    await customer.put(`/v1/webhooks/${webhook.id}`, { targetUrl: receiver.url });
    await customer.post(`/v1/webhooks/${webhook.id}/resume`);
    await eventually(() => receiver.received.length === 1);
    expect(printed.body).toBe(receiver.received[0]!.body);
    expect(printed.body).toContain(`"data":${data}`);
    expect(() => new Signature(secret!).verify(printed.body, printed.headers)).not.toThrow();
    expect(event).toBeDefined();
    expect((await command.stop()).code).toBe(0);
    expect(await subscriptions()).toEqual([]);
  });

  it('passes notifications on to a web application, one after the other', async () => {
    receiver.answering = (_, response) => setTimeout(() => response.writeHead(201).end(), 20);
    const command = start('listen', '--event', 'cdrCreated', '--forward-to', receiver.url);
    const [, secret] = await command.printed(/^listening to cdrCreated\nsigning with (whsec_.*)\n/);
    for (let n = 0; n < 5; n += 1) await report(`{"number":${n}}`);
    await report('{}', 'cdrRated');
    await command.printed(/(?:answered 201\n[^]*){5}/);
    const numbers = receiver.received.map(
      ({ body }) => (JSON.parse(body) as { data: { number: number } }).data.number,
    );
    expect(numbers).toEqual([0, 1, 2, 3, 4]);
    for (const notification of receiver.received) expectSignedWith(secret!, notification);
    await receiver.close();
    await report();
    await command.printed(/not answered \(ECONNREFUSED\)\n/);
    receiver = await startReceiver();
  });

  it('signs with the given secrets, and does not print them', async () => {
    const secrets = ['a secret of the subscription', 'its secret before that'].map(
      (text) => `whsec_${Buffer.from(text).toString('base64')}`,
    );
    const args = secrets.flatMap((secret) => ['--secret', secret]);
    const command = start('listen', '--forward-to', receiver.url, ...args);
    await command.printed(/^listening to .*\n/);
    await report();
    await eventually(() => receiver.received.length === 1);
    for (const secret of secrets) expectSignedWith(secret, receiver.received[0]!);
    expect((await command.stop()).stdout).not.toContain('whsec_');
  });

  it('leaves nothing behind when it cannot begin', async () => {
    const { code, stderr } = await run('listen', '--resource', 'nonsense');
    expect([code, stderr]).toEqual([1, expect.stringContaining('resource must be')]);
    const begin = performance.now();
    const unknown = await run('listen', '--application', '799999999');
    // The stream is closed, not read until its next bytes, which come after ten seconds.
    expect(performance.now() - begin).toBeLessThan(8_000);
    expect([unknown.code, unknown.stderr]).toEqual([
      1,
      `${api.url} refused the request: There is no such application.\n`,
    ]);
    expect(await subscriptions()).toEqual([]);
  });

  it('leaves nothing behind when Ctrl-C comes twice, as it does under npm', async () => {
    const command = start('listen');
    await command.printed(/^listening to /);
    void command.stop();
    await sleep(5);
    void command.stop();
    await sleep(5);
    expect((await command.stop()).code).toBe(0);
    expect(await subscriptions()).toEqual([]);
  });

  it('deletes the subscriptions of a killed command, and no others', async () => {
    const others = start('listen', '--event', 'cdrRated');
    await others.printed(/^listening to /);
    for (const change of [
      { name: 'switchhook listen' },
      { targetUrl: `https://listen.invalid/${encodeURIComponent(hostname())}/2147483647` },
      { name: 'switchhook listen', targetUrl: 'https://listen.invalid/elsewhere/2147483647' },
    ]) {
      const body = { event: 'smsdlr', resource: 'all', targetUrl: receiver.url, ...change };
      expect((await customer.post('/v1/webhooks', body)).status).toBe(200);
    }
    const kept = await subscriptions();
    const killed = start('listen');
    await killed.printed(/^listening to /);
    await killed.stop('SIGKILL');
    expect(await subscriptions()).toHaveLength(kept.length + 3);
    const next = start('listen');
    await next.printed(/^listening to /);
    expect(await subscriptions()).toHaveLength(kept.length + 3);
    await next.stop();
    expect(await subscriptions()).toEqual(kept);
  });

  it('says in one sentence that the API cannot be reached', async () => {
    const gone = ['listen', '--url', 'http://127.0.0.1:1'];
    const { code, stderr } = await runCli(gone);
    expect([code, stderr]).toEqual([1, 'http://127.0.0.1:1 cannot be reached (ECONNREFUSED).\n']);
  });
});
