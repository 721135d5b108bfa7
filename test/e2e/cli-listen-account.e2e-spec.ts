import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { Webhook as Signature } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import type { Schemas } from '#libs/client';
import { eventually } from '#tools/eventually';
import { CliCustomer } from '../support/cli-customer.js';
import { runCli } from '../support/command-line.js';
import { type Received, startReceiver } from '../support/receiver.js';

const cli = new CliCustomer();
const { run, start, report } = cli;

describe('listen without a port', () => {
  const subscriptions = async () =>
    (await cli.client.get('/v1/webhooks')).json<Schemas['Webhook'][]>();

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
    await cli.client.put(`/v1/webhooks/${webhook.id}`, { targetUrl: cli.receiver.url });
    await cli.client.post(`/v1/webhooks/${webhook.id}/resume`);
    await eventually(() => cli.receiver.received.length === 1);
    expect(printed.body).toBe(cli.receiver.received[0]!.body);
    expect(printed.body).toContain(`"data":${data}`);
    expect(() => new Signature(secret!).verify(printed.body, printed.headers)).not.toThrow();
    expect(event).toBeDefined();
    expect((await command.stop()).code).toBe(0);
    expect(await subscriptions()).toEqual([]);
  });

  it('passes notifications on to a web application, one after the other', async () => {
    cli.receiver.answering = (_, response) => setTimeout(() => response.writeHead(201).end(), 20);
    const command = start('listen', '--event', 'cdrCreated', '--forward-to', cli.receiver.url);
    const [, secret] = await command.printed(/^listening to cdrCreated\nsigning with (whsec_.*)\n/);
    for (let n = 0; n < 5; n += 1) await report(`{"number":${n}}`);
    await report('{}', 'cdrRated');
    await command.printed(/(?:answered 201\n[^]*){5}/);
    const numbers = cli.receiver.received.map(
      ({ body }) => (JSON.parse(body) as { data: { number: number } }).data.number,
    );
    expect(numbers).toEqual([0, 1, 2, 3, 4]);
    for (const notification of cli.receiver.received) expectSignedWith(secret!, notification);
    await cli.receiver.close();
    await report();
    await command.printed(/not answered \(ECONNREFUSED\)\n/);
    cli.receiver = await startReceiver();
  });

  it('signs with the given secrets, and does not print them', async () => {
    const secrets = ['a secret of the subscription', 'its secret before that'].map(
      (text) => `whsec_${Buffer.from(text).toString('base64')}`,
    );
    const args = secrets.flatMap((secret) => ['--secret', secret]);
    const command = start('listen', '--forward-to', cli.receiver.url, ...args);
    await command.printed(/^listening to .*\n/);
    await report();
    await eventually(() => cli.receiver.received.length === 1);
    for (const secret of secrets) expectSignedWith(secret, cli.receiver.received[0]!);
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
      `${cli.api.url} refused the request: There is no such application.\n`,
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
      const body = { event: 'smsdlr', resource: 'all', targetUrl: cli.receiver.url, ...change };
      expect((await cli.client.post('/v1/webhooks', body)).status).toBe(200);
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
