// `npm run release:image`: saves the stored data of this version as `test/upgrade/VERSION.sql.gz`, for the upgrade test
// of later versions. It is a dump of PostgreSQL 15, which later versions can read too.
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { requireProgram } from './lib/apt.mjs';
import { eventually } from './lib/eventually.mjs';
import { answersOk, freePort } from './lib/net.mjs';
import { inOwnDirectory } from './lib/own-directory.mjs';
import { POSTGRES_15 } from './lib/postgres-files.mjs';
import { prepare } from './lib/prepare.mjs';
import { Problem } from './lib/problem.mjs';
import { ROOT } from './lib/settings.mjs';
import { startStores } from './lib/stores.mjs';

const READY_MS = 60_000;
/** Not a secret: the upgrade test contains it as well. */
const SECRETS_KEYS = `image:${Buffer.alloc(32, 'image').toString('base64')}`;
const CLI = 'dist/apps/cli/src/main.js';

inOwnDirectory(
  async () => {
    await requireProgram('pg_dump', 'postgresql-client');
    await prepare({ withChecks: true });
  },
  async ({ dir, children, env: own, watch }) => {
    // PostgreSQL 15 needs a path to its data that its own user can traverse.
    chmodSync(dir, 0o711);
    const where = { dir, database: 'switchhook', version: POSTGRES_15 };
    const { databaseUrl, redisUrl } = await startStores(where, {}, children, watch);
    const [apiPort, workerPort] = [await freePort(), await freePort()];
    const env = {
      ...own,
      DATABASE_URL: databaseUrl,
      REDIS_URL: redisUrl,
      SECRETS_KEYS,
      PORT: String(apiPort),
      WORKER_PORT: String(workerPort),
      DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8',
      // In the past when the image is restored, but not when it is made.
      DELIVERY_RETRY_SCHEDULE: '5s',
    };
    const node = (/** @type {string} */ name, /** @type {string[]} */ args, input = '') =>
      children.run(name, process.execPath, args, { cwd: ROOT, env, input });
    await node('migrate', [CLI, 'migrate']);
    for (const [name, role] of [
      ['demo', 'account'],
      ['switch', 'platform'],
    ]) {
      const user = ['users', 'create', String(name), '--role', String(role), '--password-stdin'];
      await node('user', [CLI, ...user], `${String(name)}-secret`);
    }
    const running = [
      { name: 'api', port: apiPort },
      { name: 'worker', port: workerPort },
    ].map(({ name, port }) => {
      const program = children.start(name, process.execPath, [`dist/apps/${name}/src/main.js`], {
        cwd: ROOT,
        env,
      });
      const url = `http://127.0.0.1:${port}/health/ready`;
      return { program, isReady: program.ready(() => answersOk(url), READY_MS) };
    });
    await Promise.all(running.map(({ isReady }) => isReady));
    await fill(`http://127.0.0.1:${apiPort}/v1`);
    await Promise.all(running.map(({ program }) => program.stop()));
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const file = join(dir, 'image.sql');
    // Rows as INSERT, so that a PostgreSQL client can restore them without psql.
    const how = ['--no-owner', '--no-acl', '--rows-per-insert=100', `--file=${file}`];
    await children.run('pg_dump', 'pg_dump', [...how, databaseUrl], { env: own });
    // pg_dump's own commands for psql.
    const sql = readFileSync(file, 'utf8').replace(/^\\.*\n/gm, '');
    writeFileSync(join(ROOT, `test/upgrade/${version}.sql.gz`), gzipSync(sql));
    console.log(`wrote test/upgrade/${version}.sql.gz`);
    return 0;
  },
);

/** Stores something of each kind. @param {string} base */
async function fill(base) {
  const target = createServer(({ url }, response) => {
    response.statusCode = url === '/works' ? 200 : 500;
    response.end();
  }).listen(0, '127.0.0.1');
  const port = await eventually(() => target.address(), Boolean);
  const targets = `http://127.0.0.1:${/** @type {{ port: number }} */ (port).port}`;

  /** @param {string} user @param {string} path @param {object} [body] */
  const call = async (user, path, body) => {
    const answer = await fetch(`${base}${path}`, {
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
      headers: {
        authorization: `Basic ${Buffer.from(`${user}:${user}-secret`).toString('base64')}`,
        'content-type': 'application/json',
      },
    });
    if (!answer.ok) throw new Problem(`${path} answered ${answer.status}: ${await answer.text()}`);
    const stored = /** @type {unknown} */ (await answer.json());
    return /** @type {{ id: string, deliveries: { attempts: number }[] }} */ (stored);
  };
  const report = (/** @type {string} */ event) =>
    call('switch', '/events', {
      event,
      resource: event === 'smsdlr' ? 'sms' : 'call',
      accountId: '1',
      data: { kept: event },
    });

  await call('demo', '/applications', { name: 'Kept', voiceUrl: 'http://voice.example/' });
  const all = { resource: 'all', headers: { 'X-Kept': 'secret' }, payload: { kept: true } };
  await call('demo', '/webhooks', { ...all, event: 'cdrCreated', targetUrl: `${targets}/works` });
  await call('demo', '/webhooks', { ...all, event: 'smsdlr', targetUrl: `${targets}/fails` });
  for (const event of ['cdrCreated', 'smsdlr']) {
    const { id } = await report(event);
    await eventually(
      () => call('switch', `/events/${id}`),
      ({ deliveries }) => deliveries[0]?.attempts === 1,
    );
  }
  target.close();
}
