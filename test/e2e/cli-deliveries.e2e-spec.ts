import { describe, expect, it } from 'vitest';
import type { Schemas } from '#libs/client';
import { eventually } from '#tools/eventually';
import { CliCustomer, lastSegment } from '../support/cli-customer.js';
import { RunningCommand, runCli } from '../support/command-line.js';
import { startApi } from '../support/processes.js';

type Delivery = Schemas['Delivery'];

const cli = new CliCustomer({ DELIVERY_RETRY_SCHEDULE: '50ms' });
const { run, start, report } = cli;

const HOUR_AGO = new Date(Date.now() - 3_600_000).toISOString();
const JUST_AFTER = new Date(Date.parse(HOUR_AGO) + 1_000).toISOString();

async function subscribe(change: object = {}): Promise<string> {
  const body = { event: 'cdrCreated', resource: 'all', targetUrl: cli.receiver.url, ...change };
  return lastSegment((await cli.client.post('/v1/webhooks', body)).json());
}

const finished = (count: number) =>
  eventually(
    async () => (await cli.client.get('/v1/deliveries')).json<Delivery[]>(),
    (all) => all.length === count && all.every(({ state }) => state !== 'pending'),
  );

describe('deliveries', () => {
  it('are listed newest first, with filters and beyond one page', async () => {
    await subscribe();
    cli.receiver.answering = (_, response) => response.writeHead(500).end();
    await report();
    await finished(1);
    cli.receiver.answering = (_, response) => response.end();
    await report();
    const [succeeded, exhausted] = await finished(2);
    const { stdout, stderr, code } = await run('deliveries', 'list');
    expect(code).toBe(0);
    expect(stderr).toBe('created\tid\tstate\tattempts\tevent\twebhook\ttarget\n');
    const lines = stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(2);
    expect(lines[0]).toContain(`\t${succeeded!.id}\tsucceeded\t1\tcdrCreated call\t`);
    expect(lines[1]).toContain(`\t${exhausted!.id}\texhausted\t2\tcdrCreated call\t`);
    expect((await run('deliveries', 'list', '--limit', '1')).stdout).toBe(`${lines[0]}\n`);
    expect((await run('deliveries', 'list', '--status', '5xx')).stdout).toBe(`${lines[1]}\n`);
    const none = ['deliveries', 'list', '--webhook', '799999999'];
    expect(await run(...none)).toEqual({ code: 0, stdout: '', stderr: 'No deliveries match.\n' });
    expect(await run(...none, '--json')).toEqual({ code: 0, stdout: '', stderr: '' });
    const json = await run('deliveries', 'list', '--state', 'exhausted', '--json');
    expect([JSON.parse(json.stdout), json.stderr]).toEqual([exhausted, '']);
  });

  it('are not searched with a filter that cannot match', async () => {
    for (const what of ['list', 'tail']) {
      const { code, stdout, stderr } = await run('deliveries', what, '--state', 'failed');
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toContain(
        'Allowed choices are pending, parked, succeeded, exhausted, cancelled.',
      );
    }
    const { code, stderr } = await run('deliveries', 'list', '--status', 'slow');
    expect([code, stderr]).toEqual([1, expect.stringContaining('or one of dns, refused,')]);
  });

  it('are shown with their attempts', async () => {
    const webhook = await subscribe();
    cli.receiver.answering = (_, response) => response.writeHead(500).end();
    const event = await report();
    const [delivery] = await finished(1);
    const { stdout } = await run('deliveries', 'show', delivery!.id);
    const [verdict, about, target, ...attempts] = stdout.trimEnd().split('\n');
    expect(verdict).toBe('exhausted after 2 attempts, no_attempts_left');
    expect(about).toBe(
      `${delivery!.id}: cdrCreated call for subscription ${webhook}, event ${event}`,
    );
    expect(target).toBe(`to ${cli.receiver.url}`);
    expect(attempts).toEqual([
      expect.stringMatching(/^ {2}1 {2}\S+Z {2}500 in \d+ ms from 127\.0\.0\.1$/),
      expect.stringMatching(/^ {2}2 {2}\S+Z {2}500 in \d+ ms from 127\.0\.0\.1$/),
    ]);
    const json = await run('deliveries', 'show', delivery!.id, '--json');
    expect(JSON.parse(json.stdout)).toEqual(
      (await cli.client.get(`/v1/deliveries/${delivery!.id}`)).json(),
    );
  });

  it('are sent again', async () => {
    await subscribe();
    await report();
    const [delivery] = await finished(1);
    const { stdout, code } = await run('deliveries', 'redeliver', delivery!.id);
    expect([code, stdout]).toEqual([
      0,
      `${delivery!.id} is sent again: ${cli.api.url}/v1/deliveries/${delivery!.id}\n`,
    ]);
    await eventually(() => cli.receiver.received.length === 2);
    const unknown = await run('deliveries', 'redeliver', 'unknown');
    expect([unknown.code, unknown.stderr]).toEqual([
      1,
      `${cli.api.url} refused the request: There is no such delivery.\n`,
    ]);
  });

  it('are sent while they wait, although their subscription is paused', async () => {
    const webhook = await subscribe();
    await cli.client.post(`/v1/webhooks/${webhook}/pause`);
    await report();
    const [{ id }] = (await cli.client.get('/v1/deliveries')).json<[Delivery]>();
    const href = `${cli.api.url}/v1/deliveries/${id}`;
    const { stdout, code } = await run('deliveries', 'send', id);
    expect([code, stdout]).toEqual([0, `${id} is sent now: ${href}\n`]);
    await eventually(() => cli.receiver.received.some((one) => one.id === id));
    expect(JSON.parse((await run('deliveries', 'send', id, '--json')).stdout)).toEqual({
      id,
      href,
    });
  });

  it('are counted and sent together while they wait', async () => {
    cli.receiver.answering = (_, response) => response.writeHead(500).end();
    const webhook = await subscribe({ retry: { schedule: [3_600] } });
    for (let n = 0; n < 2; n += 1) await report();
    const listed = async () => (await cli.client.get('/v1/deliveries')).json<Delivery[]>();
    await eventually(listed, (all) => all.map(({ attempts }) => attempts).join() === '1,1');
    cli.receiver.answering = (_, response) => response.end();
    const many = ['deliveries', 'send', '--since', HOUR_AGO, '--state', 'pending'];
    const count = await run(...many, '--webhook', webhook, '--dry-run');
    expect([count.code, count.stdout]).toEqual([0, '2 deliveries would be sent now\n']);
    const none = await run(...many, '--until', JUST_AFTER, '--dry-run');
    expect([none.code, none.stdout]).toEqual([0, '0 deliveries would be sent now\n']);
    const sent = await run(...many, '--webhook', webhook, '--wait');
    expect([sent.code, sent.stdout]).toEqual([
      0,
      expect.stringMatching(/^2 of 2 deliveries sent now in \d+\.\d s: replay [\da-f-]{36}\n$/),
    ]);
    await finished(2);
  });

  it('are sent by their ids or by filters, but not by both', async () => {
    const id = '019a0b1c-2d3e-7f40-8a51-b26c73d84e95';
    for (const [args, message] of [
      [[], 'ids or --since are required'],
      [['--until', HOUR_AGO], 'ids or --since are required'],
      [[id, '--dry-run'], 'ids and --dry-run exclude each other'],
      [[id, '--webhook', '1'], 'ids and --webhook exclude each other'],
    ] as const) {
      expect(await run('deliveries', 'send', ...args)).toEqual({
        code: 2,
        stdout: '',
        stderr: `error: ${message}\n`,
      });
    }
  });

  it('are cancelled while they wait, and can then be sent again', async () => {
    const webhook = await subscribe();
    await cli.client.post(`/v1/webhooks/${webhook}/pause`);
    await report();
    const [{ id }] = (await cli.client.get('/v1/deliveries')).json<[Delivery]>();
    const early = await run('deliveries', 'redeliver', id);
    expect([early.code, early.stderr]).toEqual([1, expect.stringContaining('send it now')]);
    const href = `${cli.api.url}/v1/deliveries/${id}`;
    const { stdout, code } = await run('deliveries', 'cancel', id);
    expect([code, stdout]).toEqual([0, `${id} is cancelled: ${href}\n`]);
    const json = await run('deliveries', 'cancel', id, '--json');
    expect(JSON.parse(json.stdout)).toEqual({ id, href });
    expect((await cli.client.get(`/v1/deliveries/${id}`)).json()).toMatchObject({
      state: 'cancelled',
      reason: 'requested',
    });
    expect((await run('deliveries', 'redeliver', id)).code).toBe(0);
  });

  it('are printed as they change', async () => {
    const [webhook, other] = [await subscribe(), await subscribe()];
    const command = start('deliveries', 'tail', '--webhook', webhook, '--state', 'succeeded');
    await eventually(() => command.errors().includes('waiting for deliveries\n'));
    await report();
    // If the delivery had ended before its event was shown, a line without the attempt comes first.
    await command.printed(/\tsucceeded\t1\tcdrCreated call\t.*\t200 in \d+ ms from 127\.0\.0\.1\n/);
    const { code, stdout } = await command.stop();
    expect(code).toBe(0);
    expect(stdout.trimEnd().split('\n').length).toBeLessThanOrEqual(2);
    expect(other).not.toBe(webhook);
  });

  it('can be followed again after the API was away', async () => {
    const short = await startApi({ DATABASE_URL: cli.database.url });
    const args = ['deliveries', 'tail', '--json', '--url', short.url, '--user', cli.name];
    const command = new RunningCommand([...args, '--password-stdin'], { input: cli.input });
    cli.running.push(command);
    await eventually(() => command.errors().includes('waiting for deliveries\n'));
    await subscribe();
    await short.stop();
    const event = await report();
    await short.start();
    await command.printed(new RegExp(`"eventId":"${event}".*"state":"succeeded"`));
  });

  it('are not shown with a wrong password', async () => {
    for (const args of [['deliveries', 'list'], ['deliveries', 'tail'], ['listen']]) {
      const wrong = await runCli([...args, ...cli.login()], { input: 'wrong password' });
      expect([wrong.code, wrong.stdout]).toEqual([1, '']);
      expect(wrong.stderr).toMatch(/^http:\S+ refused the request: .*credentials.*\.\n$/);
    }
  });
});
