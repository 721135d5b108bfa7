import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { requireProgram } from '#tools/apt';
import { eventually } from '#tools/eventually';
import { Programs } from '#tools/programs';
import { POSTGRES_15 } from '#tools/postgres-files';
import { ROOT } from '#tools/settings';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../support/command-line.js';
import { clientOf } from '../support/http.js';
import { apiInProcess, type InProcess, workerInProcess } from '../support/in-process.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { Postgres } from '../support/stores.js';

const PAGE = readFileSync(`${ROOT}/docs/operating/backup-and-restore.md`, 'utf8');
const PASSWORD = 'of-each-role';
/** As in docker-compose.yml. */
const DATABASE = 'switchhook';

/** How the page creates the database: the commands for a new server, and the block for one that has the roles. */
const [, creatingNew = '', creatingBeside = ''] =
  /On a new server,(.*)On a server that has the roles,(.*)^3\./ms.exec(PAGE) ?? [];
const commandsIn = (text: string) =>
  [...text.matchAll(/^ +((?:createdb|psql) .*)/gm)].map(([, command]) => command!);
const CREATING = {
  new: commandsIn(creatingNew),
  beside: /(?:^ {7}.*\n)+/m.exec(creatingBeside)![0].replaceAll(/^ {7}/gm, ''),
};
/** How to find the commands of each way: make a dump, check it, restore it, and skip ids. */
const WAYS = {
  'as migrate': /^ +((?:pg_dump|pg_restore|psql(?=.*advance-ids)) .*)/gm,
  'by compose': /^ +docker compose exec -T postgres ((?:pg_dump|pg_restore|psql) .*)/gm,
};
const commandsOf = (way: keyof typeof WAYS, file: string) =>
  [...PAGE.matchAll(WAYS[way])].map(([, command]) =>
    command!.replace('switchhook.dump', `'${file}'`),
  );

/** The rights of roles that own nothing, and the settings of roles. */
const RIGHTS = `
WITH owned AS (
  SELECT 'r'::"char" AS kind, oid::regclass::text AS name, relowner AS owner, relacl AS rights
  FROM pg_class WHERE relnamespace = 'public'::regnamespace
  UNION ALL
  SELECT 'f', oid::regprocedure::text, proowner, proacl FROM pg_proc
  WHERE pronamespace = 'public'::regnamespace
  UNION ALL
  SELECT 'n', nspname, nspowner, nspacl FROM pg_namespace WHERE nspname = 'public'
  UNION ALL
  SELECT 'd', datname, datdba, datacl FROM pg_database WHERE datname = current_database()
)
SELECT name, owner::regrole::text, grantee::regrole::text, privilege_type
FROM owned, aclexplode(coalesce(rights, acldefault(kind, owner))) WHERE grantee <> owner
UNION ALL
SELECT attrelid::regclass::text, attname::text, grantee::regrole::text, privilege_type
FROM pg_attribute, aclexplode(attacl) WHERE attacl IS NOT NULL
UNION ALL
SELECT '', '', setrole::regrole::text, setting FROM pg_db_role_setting, unnest(setconfig) AS setting
WHERE setrole <> 0
  AND setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database())
ORDER BY 1, 2, 3, 4;`;

await requireProgram('pg_dump', 'postgresql-client');

// PostgreSQL 15 needs a path to its data that its own user can traverse.
const dir = mkdtempSync('/tmp/switchhook-restore-');
chmodSync(dir, 0o711);
const programs = new Programs(join(dir, 'logs'));

/** The section for base backups, with a directory of ours, and its settings of PostgreSQL. */
const TO_ANY_MOMENT = /^## To any moment$.*?^## /ms
  .exec(PAGE)![0]
  .replaceAll('/backup', `${dir}/backup`);
const SETTINGS = Object.fromEntries(
  [...TO_ANY_MOMENT.matchAll(/^ +(\w+) = '?(.*?)'?$/gm)].map(([, name, value]) => [name!, value!]),
);
const settingsNamed = (prefix: RegExp) =>
  Object.fromEntries(Object.entries(SETTINGS).filter(([name]) => prefix.test(name)));
const RECOVERY = settingsNamed(/^rec|^rest/);

let receiver: Receiver;
let original: Installation;

beforeAll(async () => {
  receiver = await startReceiver();
  directoryFor('backup');
  directoryFor('backup/wal');
  original = await Installation.onNewServer('original', settingsNamed(/^archive_/));
  original.allowReplication();
  await original.migrate();
  for (const [name, role] of [
    ['demo', 'account'],
    ['switch', 'platform'],
  ] as const) {
    const args = ['users', 'create', name, '--role', role, '--password-stdin'];
    const env = { DATABASE_URL: original.urlOf('migrate') };
    expect(await runCli(args, { env, input: `${name}-secret` })).toMatchObject({ code: 0 });
  }
  await original.start();
  const body = { event: 'cdrCreated', resource: 'all', targetUrl: receiver.url };
  expect((await original.customer.post('/v1/webhooks', { ...body, paused: true })).status).toBe(
    200,
  );
  await original.report('before');
  await original.stop();
}, 120_000);
afterAll(async () => {
  await original.stop();
  await programs.kill();
  await receiver.close();
  rmSync(dir, { recursive: true });
});

describe.each(['as migrate', 'by compose'] as const)('a backup that is restored %s', (way) => {
  const file = join(dir, `${way}.dump`);
  const [backUp = '', check = '', restore = '', skipIds = ''] = commandsOf(way, file);
  let restored: Installation;
  let lastId: number;

  beforeAll(async () => {
    original.run(backUp);
    lastId = original.giveIds();
    original.run(check);
    restored = await Installation.onNewServer(way);
    restored.run(restore);
  }, 120_000);
  afterAll(() => restored.stop());

  it('has the rights and limits of the roles before migrate grants them', async () => {
    const rights = original.rights();
    expect(rights).toContain('switchhook_worker');
    expect(restored.rights()).toBe(rights);
    await restored.migrate();
    expect(restored.rights()).toBe(rights);
  });

  it('gives no id again that was given after the backup', () => {
    restored.run(skipIds);
    expect(restored.giveIds()).toBeGreaterThan(lastId + 100);
  });

  it('fails its check if it ends early', () => {
    const copy = `${file}.part`;
    copyFileSync(file, copy);
    truncateSync(copy, statSync(copy).size - 100);
    expect(() => original.run(`${check.replace(file, copy)} 2>&1`)).toThrow();
  });

  it('delivers waiting notifications and new events', async () => {
    const before = receiver.received.length;
    await restored.start();
    // The backup is of a paused subscription.
    expect(receiver.received.slice(before)).toEqual([]);
    const { status } = await restored.customer.put('/v1/webhooks/1', { paused: false });
    expect(status).toBe(200);
    await receiver.until(({ length }) => length === before + 1);
    await restored.report('after');
    await receiver.until(({ length }) => length === before + 2);
    const told = receiver.received.slice(before).map(({ body }) => JSON.parse(body) as object);
    expect(told).toMatchObject([{ data: { said: 'before' } }, { data: { said: 'after' } }]);
  });
});

it('is restored next to the old database with the rights and limits of the roles', async () => {
  const environment = {
    DATABASE_URL: 'postgres://127.0.0.1:1/pooler',
    MIGRATION_DATABASE_URL: original.urlOf('migrate'),
  };
  const [backUp, , restore] = commandsOf('as migrate', join(dir, 'beside.dump'));
  original.run(backUp!, '', environment);
  const rights = original.rights();
  expect(rights).toContain('switchhook_worker|statement_timeout=14s');
  expect(rights).toContain('switchhook_worker|CONNECT');
  original.run(`psql --dbname=postgres --command='ALTER DATABASE ${DATABASE} RENAME TO old'`);
  original.run(`set -e\n${CREATING.beside}`);
  original.run(restore!, '', environment);
  expect(original.rights()).toBe(rights);
  // It has nothing to ask an administrator for.
  await original.migrate();
});

it('is restored to a moment from a base backup and the log', async () => {
  const [baseBackup, ...copying] = [...TO_ANY_MOMENT.matchAll(/^ +((?:pg_|cp|touch).*)/gm)].map(
    ([, command]) => command!,
  );
  original.runAsServer(baseBackup!);
  await original.start();
  await original.report('kept');
  const moment = original.run('psql -At', 'SELECT now()').trim();
  await original.report('lost');
  await original.stop();
  const lastId = original.giveIds();
  await original.kill();
  const settings = { ...RECOVERY, recovery_target_time: moment };
  const restored = await original.restored('to-a-moment', settings, copying.join('\n'));
  const events = restored.run('psql -At', 'SELECT data FROM events');
  expect(events).toContain('kept');
  expect(events).not.toContain('lost');
  await restored.migrate();
  restored.run(commandsOf('as migrate', '')[3]!);
  expect(restored.giveIds()).toBeGreaterThan(lastId + 100);

  // What the page says works on what it leaves behind, also without the data directory.
  rmSync(join(dir, 'backup', 'base'), { recursive: true });
  restored.runAsServer(baseBackup!);
  restored.archive('CREATE TABLE later ()');
  await restored.kill();
  const [base, , signal] = copying as [string, string, string];
  const { restore_command = '' } = RECOVERY;
  const again = await restored.restored('again', { restore_command }, `${base}\n${signal}`);
  expect(again.run('psql -At', `SELECT to_regclass('later')`).trim()).toBe('later');
  again.archive('CREATE TABLE latest ()');
}, 120_000);

/** Creates a directory that the server can write to. */
function directoryFor(name: string): string {
  const path = join(dir, name);
  mkdirSync(path);
  chmodSync(path, 0o777);
  return path;
}

type Role = 'migrate' | 'api' | 'worker';

/** An installation on a server of the oldest PostgreSQL, with the roles of `roles.sql`. */
class Installation {
  private running: InProcess[] = [];

  private constructor(private readonly postgres: Postgres) {}

  static async onNewServer(
    name: string,
    settings: Record<string, string> = {},
  ): Promise<Installation> {
    const place = directoryFor(name.replaceAll(' ', '-'));
    const postgres = new Postgres(place, programs, settings, POSTGRES_15);
    await postgres.start();
    // The server of the tests comes with roles of the same names.
    await postgres.query('DROP ROLE switchhook_api');
    await postgres.query('DROP ROLE switchhook_worker');
    const installation = new Installation(postgres);
    for (const command of CREATING.new) installation.run(command);
    return installation;
  }

  /** A server that has been restored from a base backup. @param copying commands that make its data directory */
  async restored(
    name: string,
    recovery: Record<string, string>,
    copying: string,
  ): Promise<Installation> {
    const place = directoryFor(name);
    const PGDATA = join(place, 'postgres');
    this.runAsServer(copying, { PGDATA, OLD_PGDATA: this.postgres.data });
    // The passwords of npm start, which are not in its data.
    copyFileSync(join(this.postgres.dir, 'postgres.json'), join(place, 'postgres.json'));
    const settings = { ...settingsNamed(/^archive_/), ...recovery };
    const postgres = new Postgres(place, programs, settings, POSTGRES_15);
    await postgres.start();
    await eventually(
      () => postgres.query<{ recovers: boolean }>('SELECT pg_is_in_recovery() AS recovers'),
      ([row]) => row?.recovers === false,
    );
    return new Installation(postgres);
  }

  /** Runs an operator's command on the account that owns the server's files. */
  runAsServer(command: string, environment: Record<string, string> = {}): void {
    const { uid, gid } = statSync(this.postgres.data);
    const env = { ...this.environment(), ...environment };
    execFileSync('sh', ['-ec', command], { cwd: '/', uid, gid, env });
  }

  /**
   * Runs an operator's command, as an administrator unless it names a role. @param environment the addresses for
   * `migrate` @returns its output
   */
  run(command: string, input = '', environment = { DATABASE_URL: this.urlOf('migrate') }): string {
    const env = { ...this.environment(), PGDATABASE: DATABASE, ...environment };
    return execFileSync('sh', ['-c', command], { cwd: ROOT, encoding: 'utf8', input, env });
  }

  private environment(): Record<string, string | undefined> {
    const { hostname, port, username, password } = this.postgres.url;
    return {
      PATH: process.env.PATH,
      PGHOST: hostname,
      PGPORT: port,
      PGUSER: username,
      PGPASSWORD: password,
      MIGRATE_PASSWORD: PASSWORD,
      API_PASSWORD: PASSWORD,
      WORKER_PASSWORD: PASSWORD,
    };
  }

  allowReplication(): void {
    const line = 'host replication all 127.0.0.1/32 scram-sha-256\n';
    writeFileSync(join(this.postgres.data, 'pg_hba.conf'), line, { flag: 'a' });
    this.run('psql -At', 'SELECT pg_reload_conf()');
  }

  /** Runs a statement, and waits until the server's log of it is archived. */
  archive(statement: string): void {
    this.run('psql -At', statement);
    const [file] = this.run('psql -At', 'SELECT pg_walfile_name(pg_switch_wal())').split('\n');
    const archived = `timeout 60 sh -c 'until test -e ${dir}/backup/wal/${file!}; do sleep 0.1; done'`;
    this.run(archived);
    expect(this.run('psql -At', 'SELECT failed_count FROM pg_stat_archiver').trim()).toBe('0');
  }

  kill(): Promise<void> {
    return this.postgres.kill();
  }

  /** Gives a hundred ids to applications. @returns the last one */
  giveIds(): number {
    const sql = `SELECT max(nextval('applications_id_seq')) FROM generate_series(1, 100)`;
    return Number(this.run('psql -At', sql));
  }

  urlOf(role: Role): string {
    const url = new URL(this.postgres.url);
    Object.assign(url, { username: `switchhook_${role}`, password: PASSWORD });
    url.pathname = DATABASE;
    return url.toString();
  }

  async migrate(): Promise<void> {
    const env = {
      DATABASE_URL: this.urlOf('migrate'),
      DATABASE_API_ROLE: 'switchhook_api',
      DATABASE_WORKER_ROLE: 'switchhook_worker',
    };
    expect(await runCli(['migrate'], { env })).toMatchObject({ code: 0, stderr: '' });
  }

  async start(): Promise<void> {
    const own = { DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8' };
    this.running = [
      await apiInProcess({ DATABASE_URL: this.urlOf('api'), ...own }),
      await workerInProcess({ DATABASE_URL: this.urlOf('worker'), ...own }),
    ];
  }

  async stop(): Promise<void> {
    await Promise.all(this.running.map((one) => one.stop()));
  }

  get customer() {
    return clientOf(this.running[0]!.url, 'demo:demo-secret');
  }

  async report(said: string): Promise<void> {
    const platform = clientOf(this.running[0]!.url, 'switch:switch-secret');
    const event = { event: 'cdrCreated', resource: 'call', accountId: '1', data: { said } };
    expect((await platform.post('/v1/events', event)).status).toBe(202);
  }

  /** What each role may do with each table and routine, and its settings. */
  rights(): string {
    return this.run('psql -At', RIGHTS);
  }
}
