import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ROOT } from '#tools/settings';
import { runCli, runCliProcess } from '../support/command-line.js';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { testRedisUrl } from '../support/environment.js';
import { send } from '../support/http.js';
import { apiInProcess } from '../support/in-process.js';
import { startSlowListener } from '../support/slow-listener.js';

const GENERATED = /^password, shown only once: (\S{20,})$/m;

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(() => database.drop());

const cli = (args: string[], input: string | Buffer = '') =>
  runCli(args, { env: { DATABASE_URL: database.url }, input });

describe('migrate', () => {
  let empty: TestDatabase;

  beforeAll(async () => {
    empty = await createTestDatabase();
    await empty.query('DROP SCHEMA public CASCADE');
    await empty.query('CREATE SCHEMA public');
  });

  afterAll(() => empty.drop());

  it('names the migrations that it ran, and finds nothing to do the second time', async () => {
    const env = { DATABASE_URL: empty.url };
    const first = await runCliProcess(['migrate'], { env });
    expect(first).toMatchObject({ code: 0, stderr: '' });
    const rows = await empty.query<{ name: string }>('SELECT name FROM migrations ORDER BY id');
    const lines = rows.map(({ name }) => `migrated ${name}\n`).join('');
    expect(first.stdout).toBe(`${lines}The database is up to date.\n`);
    expect(await empty.query('SELECT id FROM environments')).toHaveLength(2);
    const second = await runCli(['migrate'], { env });
    expect(second).toEqual({ code: 0, stdout: 'The database is up to date.\n', stderr: '' });
  });
});

describe('completion', () => {
  it.each(['bash', 'zsh', 'fish'])('prints a script for %s', async (shell) => {
    const { code, stdout, stderr } = await runCli(['completion', shell]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('switchhook complete --');
    expect(stdout).not.toContain('npm run');
  });

  it('prints a script that bash accepts for the installed command', async () => {
    const { stdout } = await runCli(['completion', 'bash']);
    const script = `${stdout}\ncomplete -p switchhook`;
    const bash = spawnSync('bash', ['--norc'], { input: script, encoding: 'utf8' });
    expect([bash.status, bash.stderr]).toEqual([0, '']);
    expect(bash.stdout).toMatch(/^complete .*-F __switchhook_complete switchhook$/m);
  });

  it('knows commands, options and choices, without a database', async () => {
    const suggested = async (...words: string[]) =>
      (await runCli(['complete', '--', ...words])).stdout
        .split('\n')
        .map((line) => line.split('\t')[0]);
    expect(await suggested('')).toContain('deliveries');
    expect(await suggested('users', '')).toEqual(expect.arrayContaining(['list', 'unlock']));
    expect(await suggested('users', 'list', '--')).toContain('--json');
    expect(await suggested('events', 'send', '--event', '')).toEqual(
      expect.arrayContaining(['smsdlr', 'cdrCreated', 'cdrRated']),
    );
  });
});

describe('--json', () => {
  const objects = async (...args: string[]) => {
    const { code, stdout, stderr } = await cli([...args, '--json']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  };

  it('prints an object for each line of every command', async () => {
    const [created] = await objects('users', 'create', 'json');
    const { id } = created!;
    expect(created).toEqual({
      id,
      username: 'json',
      role: 'account',
      password: expect.any(String) as string,
    });
    expect(await objects('users', 'create', 'json', '--if-missing')).toEqual([
      { username: 'json', exists: true },
    ]);
    expect(await objects('users', 'lock', 'json')).toEqual([
      { id, username: 'json', status: 'locked' },
    ]);
    expect(await objects('users', 'list')).toContainEqual({
      ...{ id, username: 'json', role: 'account', status: 'locked' },
      joinDate: expect.stringMatching(/Z$/) as string,
    });
    const [added] = await objects(
      'credentials',
      'add',
      'json',
      '--expires-at',
      '2099-01-01T00:00:00Z',
    );
    expect(await objects('credentials', 'list', 'json')).toContainEqual(
      expect.objectContaining({ id: added!.id, expiresAt: '2099-01-01T00:00:00.000Z' }),
    );
    expect(await objects('credentials', 'remove', 'json', String(added!.id))).toEqual([
      { id: added!.id },
    ]);
    expect(await objects('migrate')).toEqual([{ migrated: [] }]);
  });

  it('can be given to every command', async () => {
    const { stdout } = await cli(['--help']);
    const resources = ['applications', 'webhooks', 'events', 'deliveries', 'replays'];
    const groups = ['users', 'credentials', 'own-credentials', 'secrets', ...resources];
    const commands = [...stdout.matchAll(/^ {2}([a-z][a-z-]*) /gm)].map(([, name]) => [name!]);
    const all = commands.flatMap(([name]) => (groups.includes(name!) ? [] : [[name!]]));
    for (const group of groups) {
      const help = (await cli([group, '--help'])).stdout;
      for (const [, name] of help.matchAll(/^ {2}([a-z]+) /gm)) all.push([group, name!]);
    }
    const without = ['help', 'completion'];
    const tested = all.filter((words) => !without.includes(words.at(-1)!));
    expect(tested.length).toBeGreaterThan(33);
    for (const words of tested) {
      expect([words, (await cli([...words, '--help'])).stdout]).toEqual([
        words,
        expect.stringContaining('--json'),
      ]);
    }
  });
});

describe('users unlock --forget-failures', () => {
  it('lets a user in again who has failed too often', async () => {
    const api = await apiInProcess({ DATABASE_URL: database.url });
    const username = 'forgetful';
    const { auth } = await createUser(database, username);
    const login = async (pair: string) =>
      (await send('GET', `${api.url}/v1/applications`, { auth: pair })).status;
    for (let n = 0; n < 10; n += 1) expect(await login(`${username}:wrong`)).toBe(401);
    expect(await login(auth)).toBe(429);
    const env = { DATABASE_URL: database.url, REDIS_URL: testRedisUrl().toString() };
    expect((await runCli(['users', 'unlock', username], { env })).code).toBe(0);
    expect(await login(auth)).toBe(429);
    const args = ['users', 'unlock', username, '--forget-failures'];
    expect(await runCli(args, { env })).toEqual({
      code: 0,
      stdout: `${username} is active\ncounters of failed logins forgotten: 1\n`,
      stderr: '',
    });
    expect(await login(auth)).toBe(200);
    const away = { ...env, REDIS_URL: 'redis://127.0.0.1:1' };
    expect(await runCli(args, { env: away })).toEqual({
      code: 1,
      stdout: `${username} is active\n`,
      stderr:
        'Redis, which counts failed logins, cannot be reached (connect ECONNREFUSED 127.0.0.1:1).\n',
    });
    await api.stop();
  });
});

describe('users and credentials', () => {
  beforeEach(async () => {
    await database.query('DELETE FROM credentials');
    await database.query('DELETE FROM users');
  });

  const stored = () =>
    database.query<{ username: string; role: string; status: string; credentials: string }>(
      `SELECT username, role, status,
         (SELECT count(*) FROM credentials WHERE user_id = users.id) AS credentials
       FROM users ORDER BY id`,
    );

  it('are created with a generated password, which is printed', async () => {
    const env = { DATABASE_URL: database.url };
    const { code, stdout, stderr } = await runCliProcess(['users', 'create', 'demo'], { env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^created demo \(id \d+, role account\)\n/);
    expect(stdout).toMatch(GENERATED);
    expect(await stored()).toEqual([
      { username: 'demo', role: 'account', status: 'active', credentials: '1' },
    ]);
  });

  it('are created for the platform with a password from standard input, which is not printed', async () => {
    const args = ['users', 'create', 'switch', '--role', 'platform', '--password-stdin'];
    const surroundings = { env: { DATABASE_URL: database.url }, input: 'switch-secret\n' };
    const { code, stdout, stderr } = await runCliProcess(args, surroundings);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^created switch \(id \d+, role platform\)\n$/);
    expect(await stored()).toMatchObject([{ username: 'switch', role: 'platform' }]);
  });

  it('lose at most one line break of their password', async () => {
    const short = 'users create demo --password-stdin'.split(' ');
    // Eight characters are the minimum: without its own line break, this one has seven.
    expect((await cli(short, '1234567\n')).code).toBe(1);
    expect((await cli(short, '1234567\n\n')).code).toBe(0);
  });

  it('are refused without a password, or with one that is not UTF-8', async () => {
    const args = 'users create demo --password-stdin'.split(' ');
    const binary = await cli(args, Buffer.from([0xff, 0xfe, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41]));
    expect(binary).toMatchObject({ code: 1, stdout: '' });
    expect(binary.stderr).toBe('The password on standard input is not UTF-8.\n');
    const none = await cli(args);
    expect(none).toMatchObject({ code: 1, stdout: '' });
    expect(none.stderr).toMatch(/^password must have .*\n$/);
    const endless = await cli(args, 'x'.repeat(5_000));
    expect(endless.stderr).toBe('The password on standard input is too long.\n');
    expect(await stored()).toEqual([]);
  });

  it('are refused if the username is taken, unless --if-missing is given', async () => {
    await cli(['users', 'create', 'demo']);
    const again = await cli(['users', 'create', 'demo']);
    expect(again).toEqual({ code: 1, stdout: '', stderr: 'username is taken.\n' });
    const fine = await cli(['users', 'create', 'demo', '--if-missing', '--role', 'platform']);
    expect(fine).toEqual({ code: 0, stdout: 'demo already exists\n', stderr: '' });
    expect(await stored()).toMatchObject([{ role: 'account', credentials: '1' }]);
  });

  it('are created once when two commands with --if-missing run at the same time', async () => {
    const args = ['users', 'create', 'demo', '--if-missing'];
    const surroundings = { env: { DATABASE_URL: database.url } };
    const endings = await Promise.all(
      Array.from({ length: 2 }, () => runCliProcess(args, surroundings)),
    );
    expect(endings.map(({ code }) => code)).toEqual([0, 0]);
    expect(endings.filter(({ stdout }) => stdout.startsWith('created '))).toHaveLength(1);
    expect(await stored()).toHaveLength(1);
  });

  it('are all listed, even beyond the first page of 500', async () => {
    await database.query(
      `INSERT INTO users (username, role, status, salt)
       SELECT 'user' || n, 'account', 'active', '' FROM generate_series(1, 1000) n`,
    );
    const { code, stdout, stderr } = await cli(['users', 'list']);
    expect(code).toBe(0);
    expect(stderr).toBe('id\tusername\trole\tstatus\tjoined\n');
    const lines = stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(1000);
    expect(lines[999]).toMatch(/^\d+\tuser1000\taccount\tactive\t\d{4}-\d\d-\d\dT.*Z$/);
  });

  it('can be locked and unlocked', async () => {
    await cli(['users', 'create', 'demo']);
    expect((await cli(['users', 'lock', 'demo'])).stdout).toBe('demo is locked\n');
    expect(await stored()).toMatchObject([{ status: 'locked' }]);
    expect((await cli(['users', 'unlock', 'demo'])).stdout).toBe('demo is active\n');
    expect(await stored()).toMatchObject([{ status: 'active' }]);
  });

  it('can be added, listed and removed', async () => {
    await cli(['users', 'create', 'demo']);
    const added = await cli(['credentials', 'add', 'demo']);
    const [, id] = /^added credential (\d+)\n/.exec(added.stdout)!;
    expect(added.stdout).toMatch(GENERATED);
    const given = await cli(['credentials', 'add', 'demo', '--password-stdin'], 'next-secret');
    expect(given.stdout).toMatch(/^added credential \d+\n$/);

    const before = await cli(['credentials', 'list', 'demo']);
    expect(before.stdout.trimEnd().split('\n')).toHaveLength(3);
    expect(before.stdout).toMatch(
      new RegExp(`^${id!}\t\\d{4}-\\d\\d-\\d\\dT.*Z\t\t\tmanage\t$`, 'm'),
    );

    const removed = await cli(['credentials', 'remove', 'demo', id!]);
    expect(removed).toEqual({ code: 0, stdout: `removed credential ${id!}\n`, stderr: '' });
    const after = await cli(['credentials', 'list', 'demo']);
    expect(after.stdout).not.toMatch(new RegExp(`^${id!}\t`, 'm'));
    expect(after.stdout.trimEnd().split('\n')).toHaveLength(2);
  });

  it('can be added with an expiry, which the list shows', async () => {
    await cli(['users', 'create', 'demo']);
    const add = (time: string) => cli(['credentials', 'add', 'demo', '--expires-at', time]);
    expect((await add('2099-12-31T23:59:59Z')).code).toBe(0);
    const { stdout, stderr } = await cli(['credentials', 'list', 'demo']);
    expect(stderr).toBe('id\tsince\tuntil\tlast used\tscope\tname\n');
    expect(stdout).toMatch(/^\d+\t\S+Z\t2099-12-31T23:59:59\.000Z\t\tmanage\t$/m);
    expect(await add('2020-01-01T00:00:00Z')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'expiresAt must be in the future.\n',
    });
    expect(await add('tomorrow')).toEqual({
      code: 1,
      stdout: '',
      stderr: '--expires-at must be a time such as 2027-01-31T12:00:00Z.\n',
    });
  });

  it('cannot be removed through another user', async () => {
    await cli(['users', 'create', 'demo']);
    await cli(['users', 'create', 'other']);
    const [row] = await database.query<{ id: string }>(
      `SELECT id FROM credentials
       WHERE user_id = (SELECT id FROM users WHERE username = 'other')`,
    );
    const { code, stderr } = await cli(['credentials', 'remove', 'demo', row!.id]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'There is no such credential.\n' });
    expect(await stored()).toMatchObject([{ credentials: '1' }, { credentials: '1' }]);
  });

  it.each([
    ['users', 'lock', 'nobody'],
    ['users', 'unlock', 'nobody'],
    ['credentials', 'list', 'nobody'],
    ['credentials', 'add', 'nobody'],
    ['credentials', 'remove', 'nobody', '1'],
  ])('are reported as missing if the user does not exist: %s %s %s', async (...args) => {
    const ending = await cli(args);
    expect(ending).toEqual({ code: 1, stdout: '', stderr: 'There is no such user.\n' });
  });
});

describe('import-applications', () => {
  let directory: string;
  let file: string;
  let userId: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'switchhook-cli-'));
    file = join(directory, 'applications.json');
    await cli(['users', 'create', 'importer']);
    const [user] = await database.query<{ id: string }>(
      "SELECT id FROM users WHERE username = 'importer'",
    );
    userId = user!.id;
  });

  beforeEach(() => database.query('DELETE FROM applications'));

  afterAll(() => rm(directory, { recursive: true }));

  async function importFile(content: string | Buffer) {
    await writeFile(file, content);
    return cli(['import-applications', file]);
  }

  const anApplication = (members: object = {}) => ({
    userId,
    name: 'Old shop',
    voiceUrl: 'http://foobar',
    ...members,
  });

  const ids = async () =>
    (await database.query<{ id: string }>('SELECT id FROM applications ORDER BY id')).map(
      ({ id }) => id,
    );

  it('imports all applications of the file, with their ids and partitions', async () => {
    const applications = [
      anApplication({ id: '5080983', partition: 'Production' }),
      anApplication(),
    ];
    const ending = await importFile(`\ufeff${JSON.stringify(applications)}`);
    expect(ending).toEqual({ code: 0, stdout: 'imported 2 applications\n', stderr: '' });
    const rows = await database.query('SELECT id, name, partition FROM applications ORDER BY id');
    expect(rows).toEqual([
      { id: '5080983', name: 'Old shop', partition: 'Production' },
      { id: '5080984', name: 'Old shop', partition: null },
    ]);
  });

  it('prints every fault with its place, one a line, and imports nothing', async () => {
    const faulty = [
      anApplication(),
      anApplication({ name: null }),
      anApplication({ voiceUrl: 'ftp://x' }),
    ];
    const { code, stdout, stderr } = await importFile(JSON.stringify(faulty));
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    const lines = stderr.trimEnd().split('\n');
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(/^\/1\/name: name /);
    expect(lines[1]).toMatch(/^\/2\/voiceUrl: voiceUrl /);
    expect(await ids()).toEqual([]);
  });

  it('imports nothing when one account is unknown', async () => {
    const { code, stderr } = await importFile(
      JSON.stringify([anApplication(), anApplication({ userId: 999_999 })]),
    );
    expect(code).toBe(1);
    expect(stderr).toMatch(/^\/1\/userId: userId .*\n$/);
    expect(await ids()).toEqual([]);
  });

  it.each([
    ['no JSON', '[{"name": ', / is not JSON \(line 1, column 11\)\.\n$/],
    [
      'a trailing comma',
      '[\n {"password": "secret"},\n]',
      / is not JSON \(line 3, column 1\)\.\n$/,
    ],
    ['CSV', 'id,name\n1,secret', / is not JSON \(line 1, column 1\)\.\n$/],
    ['an object on each line', '{"id":1}\n{"id":2}', / is not JSON \(line 2, column 1\)\.\n$/],
    ['ISO 8859-1', Buffer.from('["ä"]', 'latin1'), /^The text in .* is not UTF-8\.\n$/],
    ['UTF-16', Buffer.from('[{"id":1}]', 'utf16le'), /^The text in .* is not UTF-8\.\n$/],
    ['users that are no array', '{"users": {}}', /^\/users: users must be a JSON array\.\n$/],
    ['no array', '{"name": "Old shop"}', /^The file must hold a JSON array of applications\.\n$/],
  ])('says in one sentence that the file contains %s', async (_what, content, sentence) => {
    const { code, stdout, stderr } = await importFile(content);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(sentence);
    expect(stderr).not.toContain('secret');
    expect(stderr.trimEnd()).not.toContain('\n');
  });

  it('imports an object that has applications or users alone', async () => {
    const applications = JSON.stringify({ applications: [anApplication()] });
    expect(await importFile(applications)).toMatchObject({
      code: 0,
      stdout: 'imported 0 users and 1 application\n',
    });
    const users = JSON.stringify({ users: [{ id: 6999999, username: 'lonely-shop' }] });
    expect(await importFile(users)).toMatchObject({
      code: 0,
      stdout: 'imported 1 user and 0 applications\n',
    });
  });

  describe('with users', () => {
    const someUsers = [
      {
        id: '7000001',
        username: 'old-shop',
        password: 'kept password',
        joinDate: '2016-01-31T12:00:00Z',
      },
      { id: 7000002, username: 'locked-shop', status: 'locked' },
    ];

    it('imports them with their ids, and lets those in who have a password', async () => {
      const content = {
        users: someUsers,
        applications: [anApplication({ id: '5090001', userId: 7000001 })],
      };
      expect(await importFile(JSON.stringify(content))).toEqual({
        code: 0,
        stdout: 'imported 2 users and 1 application\n',
        stderr: '',
      });
      const users = await database.query(
        `SELECT id, username, role, status, join_date < '2017-01-01' AS old FROM users
         WHERE id >= 7000001 ORDER BY id`,
      );
      expect(users).toEqual([
        { id: '7000001', username: 'old-shop', role: 'account', status: 'active', old: true },
        { id: '7000002', username: 'locked-shop', role: 'account', status: 'locked', old: false },
      ]);
      const audit = await database.query<{ action: string }>(
        `SELECT action FROM audit WHERE resource_id IN ('7000001', '7000002', '5090001') ORDER BY 1`,
      );
      expect(audit.map(({ action }) => action)).toEqual([
        'application.import',
        'user.import',
        'user.import',
      ]);
      const api = await apiInProcess({ DATABASE_URL: database.url });
      const listed = await send('GET', `${api.url}/v1/applications`, {
        auth: 'old-shop:kept password',
      });
      expect(listed.json<{ id: string }[]>().map(({ id }) => id)).toEqual(['5090001']);
      await api.stop();
      const created = await cli(['users', 'create', 'after-import']);
      expect(created.stdout).toContain('created after-import (id 7000003, ');
    });

    it('imports nothing if there is any fault, and names its place', async () => {
      const users = [
        { id: '7100001', username: 'fine' },
        { id: '7100001', username: '1st', role: 'boss', password: 'short', joinDate: 'once' },
        { username: 'importer' },
      ];
      const faulty = await importFile(JSON.stringify({ users, applications: [] }));
      expect(faulty.stderr.trimEnd().split('\n')).toEqual([
        '/users/1/username: username must be a letter and up to 63 more letters, digits or the characters . _ @ -.',
        '/users/1/password: password must have 8 to 200 characters.',
        '/users/1/joinDate: joinDate must be a time such as 2026-01-31T12:00:00Z.',
        '/users/1/role: role must be one of account, platform, operator, reporter.',
        '/users/1/id: id is used twice.',
        '/users/2/id: id is required.',
      ]);
      const taken = { users: [{ id: userId, username: 'importer' }], applications: [] };
      expect((await importFile(JSON.stringify(taken))).stderr).toBe(
        '/users/0/id: id is taken.\n/users/0/username: username is taken.\n',
      );
      const orphan = { users: [users[0]], applications: [anApplication({ userId: 799999999 })] };
      expect((await importFile(JSON.stringify(orphan))).stderr).toBe(
        '/applications/0/userId: userId names no account.\n',
      );
      expect(await database.query(`SELECT 1 FROM users WHERE username = 'fine'`)).toEqual([]);
    });
  });

  it.each([
    ['does not exist', () => join(directory, 'none.json'), 'cannot be read (ENOENT)'],
    ['is a directory', () => directory, 'cannot be read (EISDIR)'],
    ['never ends', () => '/dev/zero', 'has more than 256 MiB'],
  ])('says in one sentence that the file %s', async (_, path, says) => {
    const { code, stderr } = await cli(['import-applications', path()]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: `${path()} ${says}.\n` });
  });
});

describe('the command line', () => {
  it.each([
    [[]],
    [['users']],
    [['users', 'list']],
    [['users', 'create']],
    [['users', 'lock']],
    [['users', 'unlock']],
    [['credentials']],
    [['credentials', 'list']],
    [['credentials', 'add']],
    [['credentials', 'remove']],
    [['migrate']],
    [['import-applications']],
    [['applications']],
    [['applications', 'list']],
    [['applications', 'show']],
    [['applications', 'create']],
    [['applications', 'update']],
    [['applications', 'delete']],
    [['webhooks']],
    [['webhooks', 'list']],
    [['webhooks', 'show']],
    [['webhooks', 'create']],
    [['webhooks', 'update']],
    [['webhooks', 'delete']],
    [['webhooks', 'pause']],
    [['webhooks', 'resume']],
    [['webhooks', 'test']],
    [['webhooks', 'secret']],
    [['events']],
    [['events', 'send']],
    [['events', 'list']],
    [['events', 'show']],
    [['deliveries']],
    [['deliveries', 'list']],
    [['deliveries', 'tail']],
    [['deliveries', 'show']],
    [['deliveries', 'send']],
    [['deliveries', 'redeliver']],
    [['deliveries', 'cancel']],
    [['replays']],
    [['replays', 'start']],
    [['replays', 'show']],
    [['replays', 'cancel']],
    [['stats']],
    [['listen']],
  ])('explains %j with an example', async (command) => {
    const { code, stdout, stderr } = await runCli([...command, '--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`Usage: ${['switchhook', ...command].join(' ')} `);
    expect(stdout).toContain(`Example:\n  $ ${['switchhook', ...command].join(' ')}`);
  });

  it('says which installation it works on', async () => {
    const { stdout } = await runCli(['--help']);
    expect(stdout).toContain('http://127.0.0.1:3000, where\nnpm start listens, or HOST and PORT.');
    expect(stdout).toContain('the database of DATABASE_URL.');
  });

  it('prints its version', async () => {
    const { code, stdout } = await runCliProcess(['--version']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\d+\.\d+\.\d+(-dev\+[\w.-]+)?\n$/);
  });

  it('installs and builds nothing in production', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'production-'));
    await cp(join(ROOT, 'tools'), join(dir, 'tools'), { recursive: true });
    await cp(join(ROOT, 'package.json'), join(dir, 'package.json'));
    const run = () => {
      const env = {
        PATH: process.env['PATH'],
        NODE_ENV: 'production',
        DATABASE_URL: 'postgres:///x',
      };
      const args = ['tools/cli.mjs', 'users', 'list'];
      const { status, output } = spawnSync(process.execPath, args, { cwd: dir, env });
      return { status, output: output.join('') };
    };
    const missing = run();
    expect(missing.status).toBe(1);
    expect(missing.output).toMatch(/^switchhook: NODE_ENV is production, so nothing is [^\n]*\n$/);
    await mkdir(join(dir, 'dist/apps/cli/src'), { recursive: true });
    const main = join(dir, 'dist/apps/cli/src/main.js');
    await writeFile(main, `console.log(process.argv.slice(1).join());`);
    expect(run()).toEqual({ status: 0, output: 'npm run cli --,users,list\n' });
    expect((await readdir(dir)).sort()).toEqual(['dist', 'package.json', 'tools']);
    await rm(dir, { recursive: true });
  });

  it('starts quickly: help loads neither the framework nor a store', async () => {
    const hook = `export async function load(url, context, next) {
      if (url.startsWith('file:')) console.error(url);
      return next(url, context);
    }`;
    const register = `import { register } from 'node:module';
      register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(hook)}));`;
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(register)}`;
    const { stderr } = await runCliProcess(['--help'], { env: { NODE_OPTIONS } });
    const textOf = (urls: readonly URL[]) => urls.map((url) => readFileSync(url, 'utf8')).join();
    const loaded = textOf(
      stderr
        .trim()
        .split('\n')
        .map((url) => new URL(url)),
    );
    expect(loaded).toContain('executeSubCommandAsync');
    const libs = new URL('../../dist/libs/', import.meta.url);
    const names = (await readdir(libs)).filter((name) => name.endsWith('.js'));
    const all = textOf(names.map((name) => new URL(name, libs)));
    // Each is in one package alone: NestJS, TypeORM, pg, Bull.
    for (const name of [
      'NestFactoryStatic',
      'MissingDriverError',
      'SCRAM-SERVER',
      'moveToActive',
    ]) {
      expect(all).toContain(name);
      expect(loaded).not.toContain(name);
    }
    expect(stderr).not.toContain('/node_modules/');
  });

  it.each([
    [[], 'Usage: '],
    [['users'], 'Usage: '],
    [['nonsense'], "error: unknown command 'nonsense'"],
    [['users', 'crate'], "error: unknown command 'crate'"],
    [['users', 'create'], "error: missing required argument 'name'"],
    [['users', 'create', 'demo', 'geheim'], "error: too many arguments for 'create'."],
    [['users', 'create', 'demo', '--password=geheim'], "error: unknown option '--password'"],
    [
      ['users', 'create', 'demo', '--role', 'root'],
      'Allowed choices are account, platform, operator, reporter.',
    ],
    [['credentials', 'remove', 'demo'], "error: missing required argument 'id'"],
    [['migrate', 'now'], "error: too many arguments for 'migrate'."],
    [
      ['stats', '--url', 'http://user:8080/geheim@host'],
      "error: option '--url' must have no credentials",
    ],
  ])('refuses %j with exit code 2, names the fault and repeats no secret', async (args, says) => {
    const { code, stdout, stderr } = await cli(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(says);
    expect(stderr).not.toContain('geheim');
  });

  it.each([
    [{}, 'configuration: DATABASE_URL is not set\n'],
    [
      { DATABASE_URL: 'postgres://u:geheim@127.0.0.1:1/x' },
      'PostgreSQL cannot be reached (connect ECONNREFUSED 127.0.0.1:1).\n',
    ],
    [
      { DATABASE_URL: 'postgres://u:geheim@h/x?host=127.0.0.1,127.0.0.2&port=1' },
      'PostgreSQL cannot be reached (connect ECONNREFUSED 127.0.0.1:1; connect ECONNREFUSED 127.0.0.2:1).\n',
    ],
    [
      { DATABASE_URL: 'postgres://u:geheim@127.0.0.1:1/x', PORT: 'geheim' },
      'configuration: PORT: must be a whole number from 0 to 65535\n',
    ],
  ])(
    'says in one sentence that it cannot work with %j, without a stack or a secret',
    async (env, says) => {
      const ending = { code: 1, stdout: '', stderr: says };
      expect(await runCliProcess(['migrate'], { env })).toEqual(ending);
      expect(await runCli(['users', 'list'], { env })).toEqual(ending);
    },
  );

  it('names the host of PostgreSQL that does not answer', async () => {
    const slow = await startSlowListener('127.0.0.1');
    const host = `127.0.0.1:${slow.port}`;
    const env = { DATABASE_URL: `postgres://u:geheim@${host}/x` };
    const reason = `Connection terminated: no answer from ${host} within 3000 ms`;
    const ending = { code: 1, stdout: '', stderr: `PostgreSQL cannot be reached (${reason}).\n` };
    expect(await runCli(['migrate'], { env })).toEqual(ending);
    await slow.close();
  });

  it('says that a database without migrations is not up to date', async () => {
    const empty = await createTestDatabase();
    try {
      await empty.query('DROP SCHEMA public CASCADE');
      await empty.query('CREATE SCHEMA public');
      const ending = await runCli(['users', 'list'], { env: { DATABASE_URL: empty.url } });
      const stderr = 'The database is not up to date: run migrate.\n';
      expect(ending).toEqual({ code: 1, stdout: '', stderr });
    } finally {
      await empty.drop();
    }
  });
});
