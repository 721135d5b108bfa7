import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Schemas } from '#libs/client';
import { eventually } from '#tools/eventually';
import { ROOT } from '#tools/settings';
import { createUser } from '../support/accounts.js';
import { CliCustomer, lastSegment } from '../support/cli-customer.js';
import { type RunningCommand, runCli } from '../support/command-line.js';
import { type Client, clientOf } from '../support/http.js';

const cli = new CliCustomer({ DELIVERY_RETRY_SCHEDULE: '' });
const { run, report } = cli;
const QUESTION = '[y/N] ';

/** Calls the API as the customer whose password the command line knows. */
let demo: Client;

beforeAll(async () => {
  const { auth } = await createUser(cli.database, 'demo');
  demo = clientOf(cli.api.url, auth);
});

/** Runs a command that succeeds, and returns what it prints. */
async function ok(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

async function json<Body>(...args: string[]): Promise<Body> {
  return JSON.parse(await ok(...args, '--json')) as Body;
}

/** The id in a line such as `created application 12: …`. */
const idIn = (line: string): string => /^created \w+ (\d+): http\S+\n$/.exec(line)![1]!;

const refusedWith = (sentence: RegExp) => ({
  code: 1,
  stdout: '',
  stderr: expect.stringMatching(
    new RegExp(`^${cli.api.url} refused the request: ${sentence.source}\n$`),
  ) as string,
});

async function createApplication(name = 'Shop'): Promise<string> {
  return idIn(
    await ok('applications', 'create', '--name', name, '--voice-url', 'http://a.example/voice'),
  );
}

async function subscribe(...more: string[]): Promise<string> {
  const to = ['--event', 'cdrCreated', '--resource', 'call', '--target-url', cli.receiver.url];
  return idIn(await ok('webhooks', 'create', ...to, ...more));
}

describe('applications', () => {
  it('are created, shown, listed and changed', async () => {
    const id = await createApplication('Shop & Söhne');
    const shown = (await cli.client.get(`/v1/applications/${id}`)).json<Schemas['Application']>();
    expect(await json('applications', 'show', id)).toEqual(shown);
    expect(await ok('applications', 'show', id)).toContain('\nname\tShop & Söhne\n');
    const update = ['applications', 'update', id, '--messaging-url', 'http://a.example/sms'];
    expect(await ok(...update, '--no-voice-url', '--api-type', 'webapi')).toBe(
      `updated application ${id}\n`,
    );
    const { stdout, stderr } = await run('applications', 'list');
    expect(stderr).toBe('id\tname\ttype\tenvironment\tvoice URL\tmessaging URL\n');
    expect(stdout).toBe(`${id}\tShop & Söhne\twebapi\t1\t\thttp://a.example/sms\n`);
    expect(await json('applications', 'list')).toMatchObject({ id, apiType: 'webapi' });
  });

  it('are created and changed from a file, such as one that was shown', async () => {
    const text = '{"name": "From a file", "voiceUrl": "http://a.example/voice"}';
    const file = ['--from-file', '-', '--url', cli.api.url, '--user', 'demo'];
    const created = await runCli(['applications', 'create', ...file], { input: text });
    const id = idIn(created.stdout);
    const path = `/v1/applications/${id}`;
    const shown = (await demo.get(path)).json<Schemas['Application']>();
    const changed = JSON.stringify({ ...shown, name: 'Changed' });
    const updated = await runCli(['applications', 'update', id, ...file], { input: changed });
    expect(updated).toEqual({ code: 0, stdout: `updated application ${id}\n`, stderr: '' });
    expect((await demo.get(path)).json()).toMatchObject({ name: 'Changed' });
  });

  it('are all listed, even beyond the first page of 1,000', async () => {
    await cli.database.query(
      `INSERT INTO applications (user_id, name, api_type, environment_id, voice_url)
       SELECT $1, 'n' || n, 'scripting', 1, 'http://a.example' FROM generate_series(1, 1001) n`,
      [cli.account.id],
    );
    const { stdout } = await run('applications', 'list');
    expect(stdout.trimEnd().split('\n')).toHaveLength(1_001);
  });

  it('are deleted only with --yes where nobody can be asked', async () => {
    const id = await createApplication();
    const refused = await run('applications', 'delete', id);
    expect(refused).toEqual({
      code: 2,
      stdout: '',
      stderr: 'error: --yes is required without a terminal\n',
    });
    expect(await ok('applications', 'delete', id, '--yes')).toBe(`deleted application ${id}\n`);
    expect(await run('applications', 'show', id)).toEqual(
      refusedWith(/There is no such application\./),
    );
    expect(await run('applications', 'list')).toEqual({
      code: 0,
      stdout: '',
      stderr: 'There are no applications.\n',
    });
  });

  it("are refused with the API's sentence", async () => {
    const noName = ['applications', 'create', '--voice-url', 'http://a.example/'];
    expect(await run(...noName)).toEqual(refusedWith(/name is required\./));
    const id = await createApplication();
    expect(await run('applications', 'update', id, '--no-voice-url')).toEqual(
      refusedWith(/.*voiceUrl.*/),
    );
  });

  it.each([
    [['create'], 'error: a field or --from-file is required'],
    [['update', '1'], 'error: a field or --from-file is required'],
    [['update', 'shop', '--name', 'x'], 'It must be a number.'],
    [['create', '--api-type', 'smoke'], 'Allowed choices are scripting, webapi.'],
    [
      ['update', '1', '--from-file', 'a.json', '--no-voice-url'],
      'error: --from-file and --voice-url exclude each other',
    ],
    [['create', '--from-file', '-'], 'error: --from-file - and --password-stdin both read'],
  ])('are not sent with wrong arguments: %j', async (args, says) => {
    const { code, stdout, stderr } = await run('applications', ...args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(says);
  });
});

describe('webhooks', () => {
  it('are created, shown, listed and changed', async () => {
    const application = await createApplication();
    const own = await subscribe('--application', application, '--name', 'Billing');
    const payload = '{"n": 12345678901234567890, "n": 1.10}';
    const id = await subscribe('--payload', payload, '--retry', '{"timeoutMs":5000}');
    const { stdout, stderr } = await run('webhooks', 'list');
    expect(stderr).toBe('id\tstate\tevent\tresource\tapplication\tname\ttarget\n');
    expect(stdout).toBe(
      `${own}\tuntested\tcdrCreated\tcall\t${application}\tBilling\t${cli.receiver.url}\n` +
        `${id}\tuntested\tcdrCreated\tcall\t\t\t${cli.receiver.url}\n`,
    );
    expect(await ok('webhooks', 'show', id)).toContain(`\npayload\t${payload}\n`);
    expect((await json<Schemas['Webhook']>('webhooks', 'show', id)).retry).toEqual({
      timeoutMs: 5_000,
    });
    const filter = '{"id":12345678901234567890}';
    await ok('webhooks', 'update', id, '--filter', filter, '--max-per-second', '10', '--ordered');
    expect(await ok('webhooks', 'show', id)).toContain(`\nfilter\t${filter}\n`);
    const paced = await json<Schemas['Webhook']>('webhooks', 'show', id);
    expect(paced).toMatchObject({ maxPerSecond: 10, ordered: true });
    await ok('webhooks', 'update', id, '--no-filter', '--no-max-per-second', '--no-ordered');
    await ok('webhooks', 'update', id, '--max-concurrent', '2');
    const unpaced = await json<Schemas['Webhook']>('webhooks', 'show', id);
    expect(unpaced).toMatchObject({ maxConcurrent: 2 });
    const removed = ['filter', 'maxPerSecond', 'ordered'];
    expect(Object.keys(unpaced).filter((name) => removed.includes(name))).toEqual([]);
    const notices = ['--event', 'webhookFailing', '--resource', 'all', '--accounts', 'all'];
    expect(await run('webhooks', 'update', id, ...notices)).toEqual(
      refusedWith(/accounts is only for users with the role platform or operator\./),
    );
    await ok('webhooks', 'update', id, '--no-accounts');
    await ok('webhooks', 'update', id, '--resource', 'call,sms', '--no-payload', '--no-retry');
    const changed = await json<Schemas['Webhook']>('webhooks', 'show', id);
    expect(changed).toMatchObject({ resource: 'call,sms' });
    expect(Object.keys(changed)).not.toContain('payload');
    expect(Object.keys(changed)).not.toContain('retry');
  });

  it('are filtered', async () => {
    const application = await createApplication();
    const own = await subscribe('--application', application);
    const off = await subscribe('--no-enabled', '--resource', 'sms');
    const ids = async (...filters: string[]) =>
      (await run('webhooks', 'list', ...filters)).stdout
        .split('\n')
        .flatMap((line) => line.split('\t', 1)[0] || []);
    expect(await ids()).toEqual([own, off]);
    expect(await ids('--application', application)).toEqual([own]);
    expect(await ids('--resource', 'sms')).toEqual([off]);
    expect(await ids('--enabled')).toEqual([own]);
    expect(await ids('--no-enabled')).toEqual([off]);
    expect(await ids('--event', 'smsdlr')).toEqual([]);
  });

  it('show in the list why nothing is sent', async () => {
    const [off, paused, gone] = [
      await subscribe('--no-enabled'),
      await subscribe(),
      await subscribe(),
    ];
    expect(await ok('webhooks', 'pause', paused)).toBe(`paused subscription ${paused}\n`);
    cli.receiver.answering = (_, response) => response.writeHead(410).end();
    const { code } = await run('webhooks', 'test', gone);
    expect(code).toBe(1);
    const { stdout } = await run('webhooks', 'list');
    expect(stdout.split('\n').map((line) => line.split('\t').slice(0, 2))).toEqual([
      [off, 'disabled'],
      [paused, 'paused'],
      [gone, 'disabled (gone)'],
      [''],
    ]);
    expect(await ok('webhooks', 'resume', paused)).toBe(`resumed subscription ${paused}\n`);
    expect((await run('webhooks', 'list', '--enabled')).stdout).toContain(`${paused}\tuntested\t`);
  });

  it('show in the list that their pace delays notifications', async () => {
    cli.receiver.answering = () => undefined;
    const id = await subscribe('--max-concurrent', '1');
    // Each call ends after 15 s, and then one less waits.
    for (let n = 0; n < 5; n += 1) await report();
    await eventually(async () =>
      (await run('webhooks', 'list')).stdout.startsWith(`${id}\tpaced\t`),
    );
  });

  it('are tested, with the result', async () => {
    const id = await subscribe();
    const stdout = await ok('webhooks', 'test', id);
    expect(stdout).toMatch(/^succeeded after 1 attempt\n/);
    expect(stdout).toMatch(/ 200 in \d+ ms from 127\.0\.0\.1\n/);
    expect(cli.receiver.received.map(({ body }) => body)).toEqual([
      expect.stringContaining('"test":true'),
    ]);
    cli.receiver.answering = (_, response) => response.writeHead(500).end();
    const failed = await run('webhooks', 'test', id, '--json');
    expect([failed.code, failed.stderr]).toEqual([1, 'The test was not delivered.\n']);
    const delivery = JSON.parse(failed.stdout) as Schemas['Delivery'];
    expect((await cli.client.get(`/v1/deliveries/${delivery.id}`)).json()).toEqual(delivery);
    expect(delivery.state).toBe('exhausted');
  });

  it('print their key alone, and rotate it', async () => {
    const id = await subscribe();
    const key = async (webhook: string) =>
      (await cli.client.get(`/v1/webhooks/${webhook}/secret`)).json<Schemas['VerificationKey']>();
    const { secret } = await key(id);
    expect(await ok('webhooks', 'secret', id)).toBe(`${secret!}\n`);
    const rotated = await run('webhooks', 'secret', id, '--rotate');
    expect(rotated).toEqual({
      code: 0,
      stdout: `${(await key(id)).secret!}\n`,
      stderr: 'For 24 hours, notifications are also signed with the old key.\n',
    });
    expect(rotated.stdout).not.toContain(secret);
    const asymmetric = await subscribe('--signature', 'ed25519');
    expect(await ok('webhooks', 'secret', asymmetric)).toBe(
      `${(await key(asymmetric)).publicKey!}\n`,
    );
    expect(await json('webhooks', 'secret', id)).toEqual(await key(id));
  });

  it('are deleted only with --yes where nobody can be asked', async () => {
    const id = await subscribe();
    expect((await run('webhooks', 'delete', id)).code).toBe(2);
    expect(await json('webhooks', 'delete', id, '--yes')).toEqual({ message: 'delete successful' });
    expect((await cli.client.get(`/v1/webhooks/${id}`)).status).toBe(404);
  });

  it.each([
    [['--payload', '{geheim'], "error: option '--payload' must be JSON"],
    [['--filter', '{geheim'], "error: option '--filter' must be JSON"],
    [['--max-per-second', '0'], 'It must be a whole number from 1 to 1000.'],
    [['--target-url', 'https://a:geheim@b.example/'], 'must have no credentials'],
    [['--event', 'cdr'], 'Allowed choices are '],
    [['--signature', 'md5'], 'Allowed choices are hmac-sha256, ed25519.'],
  ])('are not created with wrong arguments: %j', async (args, says) => {
    const { code, stdout, stderr } = await run('webhooks', 'create', ...args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(says);
    expect(stderr).not.toContain('geheim');
  });
});

it('applications and webhooks of any account are listed and shown to operators', async () => {
  const { auth } = await createUser(cli.database, 'operator', 'platform');
  const application = await createApplication();
  const webhook = await subscribe();
  for (const [group, id] of [
    ['applications', application],
    ['webhooks', webhook],
  ] as const) {
    for (const read of [['list'], ['show', id]]) {
      const command = [group, ...read, '--account', cli.account.id, '--json'];
      const login = ['--url', cli.api.url, '--user', 'operator', '--password-stdin'];
      const input = auth.slice('operator:'.length);
      const { stdout } = await runCli([...command, ...login], { input });
      expect(JSON.parse(stdout)).toMatchObject({ id });
    }
  }
});

describe('events', () => {
  it('are listed newest first, with filters', async () => {
    const [older, newer] = [await report(), await report('{}', 'cdrRated')];
    const { code, stdout, stderr } = await run('events', 'list');
    expect(code).toBe(0);
    expect(stderr).toBe('created\tid\tevent\tresource\taccount\tapplication\tproducer id\n');
    const rows = stdout.split('\n').map((line) => line.split('\t').slice(1));
    expect(rows).toEqual([
      [newer, 'cdrRated', 'call', cli.account.id, '', ''],
      [older, 'cdrCreated', 'call', cli.account.id, '', ''],
      [],
    ]);
    const found = await json<Schemas['Event']>('events', 'list', '--event', 'cdrRated');
    expect([found]).toEqual((await cli.client.get('/v1/events?event=cdrRated')).json());
    expect((await run('events', 'list', '--unmatched', '--limit', '1')).stdout).toContain(newer);
    expect(await run('events', 'list', '--producer-id', 'none')).toEqual({
      code: 0,
      stdout: '',
      stderr: 'No events match.\n',
    });
  });

  it('are shown with their data as it was sent, and who was told', async () => {
    const [told, off] = [await subscribe(), await subscribe('--no-enabled')];
    const id = await report('{"n":12345678901234567890,"n":1.10}');
    const shown = await run('events', 'show', id);
    const lines = shown.stdout.split('\n');
    expect(lines[0]).toBe(`id\t${id}`);
    expect(shown.stdout).toContain('\n{\n  "n": 12345678901234567890,\n  "n": 1.10\n}\n');
    expect(lines.at(-3)).toMatch(new RegExp(`\tcdrCreated call\t${told}\t${cli.receiver.url}$`));
    expect(lines.at(-2)).toBe(`${off}\tdisabled`);
    expect(await ok('events', 'show', id, '--json')).toContain('"n":12345678901234567890');
    expect(await run('events', 'show', 'unknown')).toEqual(refusedWith(/There is no such event\./));
  });
});

describe('replays', () => {
  const SINCE = new Date(Date.now() - 3_600_000).toISOString();
  const SINCE_LATER = new Date(Date.parse(SINCE) + 1_000).toISOString();
  const start = ['replays', 'start', '--since', SINCE];

  beforeEach(async () => {
    await subscribe();
    cli.receiver.answering = (_, response) => response.writeHead(500).end();
    for (let n = 0; n < 3; n += 1) await report();
    await eventually(
      async () => (await cli.client.get('/v1/deliveries?state=exhausted')).json<object[]>(),
      (all) => all.length === 3,
    );
    cli.receiver.answering = (_, response) => response.end();
  });

  it('count, send again, and wait for the end', async () => {
    expect(await ok(...start, '--dry-run')).toBe('3 deliveries would be sent again\n');
    expect(await ok(...start, '--status', '404', '--dry-run')).toBe(
      '0 deliveries would be sent again\n',
    );
    expect(await ok(...start, '--status', '5xx', '--wait')).toMatch(
      /^3 of 3 deliveries sent again in \d+\.\d s: replay [\da-f-]{36}\n$/,
    );
    await eventually(() => cli.receiver.received.length === 6);
  });

  it('send what a subscription has missed', async () => {
    const webhook = await subscribe();
    const missed = [...start, '--missed', '--webhook', webhook];
    expect(await ok(...missed, '--dry-run')).toBe('3 deliveries would be sent\n');
    expect(await ok(...missed, '--until', SINCE_LATER, '--dry-run')).toBe(
      '0 deliveries would be sent\n',
    );
    expect(await ok(...missed, '--wait')).toMatch(
      /^3 of 3 deliveries sent in \d+\.\d s: replay [\da-f-]{36}\n$/,
    );
    await eventually(
      async () =>
        (await cli.client.get(`/v1/deliveries?webhookId=${webhook}`)).json<object[]>().length === 3,
    );
  });

  it('of missed events need --webhook, and take no other filters of deliveries', async () => {
    for (const [args, message] of [
      [[], '--missed needs --webhook'],
      [['--webhook', '1', '--state', 'exhausted'], '--missed and --state exclude each other'],
      [['--webhook', '1', '--application', '1'], '--missed and --application exclude each other'],
    ] as const) {
      expect(await run(...start, '--missed', ...args)).toEqual({
        code: 2,
        stdout: '',
        stderr: `error: ${message}\n`,
      });
    }
  });

  it('are shown, and not cancelled once they have ended', async () => {
    const started = await json<{ href: string }>(...start);
    const id = lastSegment(started);
    expect(await ok('replays', 'show', id)).toContain(`id\t${id}\n`);
    await eventually(
      () => json<Schemas['Replay']>('replays', 'show', id),
      ({ state, replayed }) => state === 'completed' && replayed === 3,
    );
    expect(await run('replays', 'cancel', id)).toEqual(refusedWith(/.*/));
  });

  /** Starts a replay of a paused subscription, and waits for it. */
  async function startPaused(...more: string[]): Promise<[command: RunningCommand, id: string]> {
    const [{ id: webhook }] = (await cli.client.get('/v1/webhooks')).json<[Schemas['Webhook']]>();
    await ok('webhooks', 'pause', webhook);
    const command = cli.start(...start, '--wait', ...more);
    const { resourceId } = await eventually(
      async () => (await cli.client.get('/v1/audit?limit=1')).json<[Schemas['AuditEntry']]>()[0],
      ({ action }) => action === 'replay.create',
    );
    return [command, resourceId];
  }

  it('are cancelled while they run', async () => {
    const [command, id] = await startPaused('--json');
    expect(await ok('replays', 'cancel', id)).toBe(`cancelled replay ${id}\n`);
    const { code, stdout, stderr } = await command.ended;
    expect([code, stderr]).toEqual([1, 'The replay was cancelled.\n']);
    expect(JSON.parse(stdout)).toMatchObject({ id, state: 'cancelled', replayed: 0 });
  });

  it('continue after the command stops waiting for them', async () => {
    const [command, id] = await startPaused();
    const { code, stderr } = await command.stop();
    const says = `Replay ${id} continues: see replays show and replays cancel.\n`;
    expect([code, stderr]).toEqual([0, says]);
    expect(await json('replays', 'show', id)).toMatchObject({ state: 'running' });
  });

  it('need a time, and either count or wait', async () => {
    const none = await run('replays', 'start');
    expect([none.code, none.stderr]).toEqual([
      2,
      "error: required option '--since <time>' not specified\n",
    ]);
    const both = await run(...start, '--dry-run', '--wait');
    expect([both.code, both.stderr]).toEqual([
      2,
      'error: --dry-run and --wait exclude each other\n',
    ]);
  });
});

describe('stats', () => {
  it('are those of the account, or of a subscription', async () => {
    const id = await subscribe();
    const { code, stdout, stderr } = await run('stats', '--buckets', '2');
    expect([code, stderr]).toEqual([
      0,
      'from\tattempts\tsucceeded\tfailed\tp50 ms\tp95 ms\tp99 ms\n',
    ]);
    expect(stdout).toMatch(/^from\t\S+Z\nuntil\t\S+Z\nattempts\t0\n/);
    expect(stdout).toMatch(/\nwaiting\t0\n(\S+Z\t0\t0\t0\t\t\t\n){2}$/);
    const query = '--since 2026-01-01T00:00:00Z --until 2026-01-02T00:00:00Z'.split(' ');
    const range = '?since=2026-01-01T00:00:00Z&until=2026-01-02T00:00:00Z&buckets=12';
    expect(await json('stats', ...query)).toEqual(
      (await cli.client.get(`/v1/stats${range}`)).json(),
    );
    expect(await json('stats', '--webhook', id, ...query)).toEqual(
      (await cli.client.get(`/v1/webhooks/${id}/stats${range}`)).json(),
    );
    expect((await run('stats', '--webhook', id)).stdout).toContain('\nattempts\t0\n');
  });
});

/** Runs a command on a terminal, where somebody presses keys when asked. */
async function onTerminal(
  args: string[],
  keys = '',
): Promise<{ code: number | null; output: string }> {
  const program = [process.execPath, join(ROOT, 'dist/apps/cli/src/main.js'), ...args];
  const terminal = spawn('script', ['-qec', program.join(' '), '/dev/null'], {
    env: { PATH: process.env['PATH'], TERM: 'xterm' },
  });
  let output = '';
  terminal.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (!output.includes(QUESTION) && (output + text).includes(QUESTION)) {
      terminal.stdin.write(keys);
    }
    output += text;
  });
  const [code] = (await once(terminal, 'close')) as [number | null];
  return { code, output };
}

describe('on a terminal', () => {
  it('lists are aligned and in colour', async () => {
    const id = await createDemo();
    const { output } = await onTerminal(['webhooks', 'list', '--url', cli.api.url]);
    expect(output).toContain(`${id}  \u001b[33muntested\u001b[39m  smsdlr  all `);
  });

  it('a deletion is asked for', async () => {
    const id = await createDemo();
    const remove = ['webhooks', 'delete', id, '--url', cli.api.url];
    for (const keys of ['n\n', '\n', '\u0003', '\u0004']) {
      const { code, output } = await onTerminal(remove, keys);
      expect(output).toContain(
        `Delete subscription ${id} (Mine, smsdlr to ${cli.receiver.url})? ${QUESTION}`,
      );
      expect([code, output]).toEqual([1, expect.stringContaining('Nothing was deleted.')]);
    }
    expect((await demo.get(`/v1/webhooks/${id}`)).status).toBe(200);
    const { code, output } = await onTerminal(remove, 'y\n');
    expect([code, output]).toEqual([0, expect.stringContaining(`deleted subscription ${id}`)]);
    expect((await demo.get(`/v1/webhooks/${id}`)).status).toBe(404);
  });

  async function createDemo(): Promise<string> {
    const body = { event: 'smsdlr', resource: 'all', targetUrl: cli.receiver.url, name: 'Mine' };
    return lastSegment((await demo.post('/v1/webhooks', body)).json());
  }
});
