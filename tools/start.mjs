// `npm start`: runs the whole service on this machine from a fresh clone. It uses only Node's own modules, because at
// the first start nothing else is installed. `--watch` (`npm run start:dev`) runs the sources, and
// restarts the API and the worker when one is saved. With `--inspect`, debuggers can attach to both.
import { randomBytes } from 'node:crypto';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { Children } from './lib/children.mjs';
import { asProblem, makeDirectory } from './lib/data-dir.mjs';
import { keepRunning } from './lib/keep-running.mjs';
import { takeLock } from './lib/lock.mjs';
import { answersOk, freePort, whyNotListen } from './lib/net.mjs';
import { readSecrets, writeSecrets } from './lib/postgres.mjs';
import { prepare } from './lib/prepare.mjs';
import { Problem } from './lib/problem.mjs';
import { identify } from './lib/processes.mjs';
import { progress } from './lib/progress.mjs';
import { dataDir, HEAP_LIMITS, listenAt, portOf, requireNode, ROOT } from './lib/settings.mjs';
import { DEVELOPED, restartOnSave } from './lib/sources.mjs';
import { stopping } from './lib/stopping.mjs';
import { requireStores, startStores } from './lib/stores.mjs';
import { endTasks } from './lib/tasks.mjs';

const READY_MS = 60_000;
const CLI = 'dist/apps/cli/src/main.js';
const CONFIG = 'dist/libs/runtime/src/config/config.js';
/** @type {Record<string, number>} */
const INSPECTOR_PORTS = { api: 9229, worker: 9230 };
const isWatching = process.argv.includes('--watch');
const isInspected = process.argv.includes('--inspect');
const ACCOUNTS = [
  ['demo'],
  ['other'],
  ['reporter', '--role', 'reporter'],
  ['operator', '--role', 'operator'],
  ['switch', '--role', 'platform'],
];

/**
 * @typedef {ReturnType<typeof listenAt>} At where the API listens
 * @typedef {import('./lib/stores.mjs').Given} Given
 * @typedef {import('./lib/programs.mjs').Program} Program
 */

/** @type {import('./lib/lock.mjs').Lock | undefined} */
let lock;
const dir = dataDir(process.env);
const shownDir = relative(process.cwd(), dir) || '.';
const instanceFile = join(dir, 'instance.json');

/** @type {Children | undefined} */
let children;

const { fail, isStopping } = stopping(async () => {
  lock?.leave();
  if (children?.size) console.log('stopping …');
  await endTasks();
  await children?.end();
  if (lock) rmSync(instanceFile, { force: true });
  lock?.release();
}, 0);

async function main() {
  requireNode();
  const at = listenAt(process.env);
  const ports = givenPorts(at);
  const given = { databaseUrl: process.env.DATABASE_URL, redisUrl: process.env.REDIS_URL };
  refuseProduction(given);
  requireStores(given);

  const running = await takeDataDir();
  await requireFreePorts(at, ports);
  const keep = (
    /** @type {Program} */ program,
    /** @type {() => Promise<Program>} */ startAgain,
  ) => {
    void keepRunning(program, startAgain, isStopping);
  };
  const where = { dir, database: 'switchhook' };
  const stores = await prepare({
    // Who changes the code wants an editor that checks it.
    withChecks: isWatching,
    whenInstalled: () =>
      progress('starting PostgreSQL and Redis', () => startStores(where, given, running, keep)),
  });
  if (!stores || isStopping()) return;
  const env = await environment(at, given, stores);
  await progress('preparing the database', async () => {
    await running.run('setup', process.execPath, [CLI, 'migrate'], { cwd: ROOT, env });
    if (!given.databaseUrl) await createAccounts(running, env);
  });

  const workerUrl = listenAt({ HOST: env.HOST, PORT: env.WORKER_PORT }).url;
  // Two processes cannot serve metrics on one port, so the worker uses the next one.
  const metricsPort = metricsPortOf(env);
  const workerEnv = metricsPort ? { ...env, METRICS_PORT: String(metricsPort + 1) } : env;
  const { databaseUrl, redisUrl, roleUrls } = stores;
  const as = (/** @type {'api' | 'worker'} */ name) => ({
    DATABASE_URL: roleUrls?.[name] ?? databaseUrl,
  });
  /** @type {((isOutdated?: () => boolean) => Promise<Program>)[]} */
  const starters = [
    (isOutdated) => startApp(running, 'api', at.url, { ...env, ...as('api') }, isOutdated),
    (isOutdated) =>
      startApp(running, 'worker', workerUrl, { ...workerEnv, ...as('worker') }, isOutdated),
  ];
  await progress(`starting ${await processesOf(env)}`, async () => {
    if (isWatching) await restartOnSave(starters, isStopping);
    else await Promise.all(starters.map(async (start) => keep(await start(), () => start())));
  });
  writeInstance({
    url: at.url,
    host: at.host,
    port: at.port,
    databaseUrl,
    redisUrl,
    secretsKeys: env.SECRETS_KEYS,
  });
  printWelcome(at, given);
}

/** @param {Given} given @throws Problem for the embedded database, whose demo passwords are public */
function refuseProduction({ databaseUrl }) {
  if (process.env.NODE_ENV !== 'production' || databaseUrl) return;
  throw new Problem(
    'NODE_ENV is production, and the embedded database has demo accounts with public passwords: ' +
      'set DATABASE_URL (docs/operating/install.md), or unset NODE_ENV to try the service out.',
  );
}

/** The numbers of processes, in words. @param {NodeJS.ProcessEnv} env */
async function processesOf(env) {
  /** @type {typeof import('../libs/runtime/src/config/config.js')} */
  const { readSettings } = await import(join(ROOT, CONFIG));
  const names = /** @type {const} */ (['API_PROCESSES', 'WORKER_PROCESSES']);
  const { API_PROCESSES: apis, WORKER_PROCESSES: workers } = readSettings(names, env);
  const of = (/** @type {number} */ count, /** @type {string} */ kind) =>
    count > 1 ? `${count} ${kind} processes` : `the ${kind}`;
  return `${of(apis, 'API')} and ${of(workers, 'worker')}`;
}

/** Makes this the only start on the data, and ends processes that a killed one has left. */
async function takeDataDir() {
  makeDirectory(dir);
  lock = await takeLock(join(dir, 'start.lock'), ({ pid, isLeaving }, isFirst) => {
    if (!isLeaving) {
      throw new Problem(
        `process ${pid} runs on the data in ${shownDir}: stop it, or choose another DATA_DIR (and PORT).`,
      );
    }
    if (isFirst && pid) console.log(`waiting for process ${pid}, which is stopping …`);
  });
  children = new Children(dir);
  rmSync(instanceFile, { force: true });
  const left = await children.endLeftOvers();
  if (left.length > 0) console.log(`ended processes of an earlier start: ${left.join(', ')}`);
  children.rotateLogs();
  return children;
}

/** Undefined without metrics. @param {NodeJS.ProcessEnv} env */
function metricsPortOf(env) {
  // The worker needs the next one.
  return env.METRICS_PORT === '0' ? undefined : portOf(env, 'METRICS_PORT', 65_534);
}

/**
 * The ports of the settings, each with the way to choose another.
 * @param {At} at
 * @returns {[port: number, choice: string][]}
 */
function givenPorts({ port }) {
  const workerPort = portOf(process.env, 'WORKER_PORT');
  const metricsPort = metricsPortOf(process.env);
  /** @type {[number, string][]} */
  const ports = [[port, 'PORT=…']];
  if (workerPort) ports.push([workerPort, 'WORKER_PORT=…']);
  if (metricsPort) {
    ports.push([metricsPort, 'METRICS_PORT=…']);
    ports.push([metricsPort + 1, 'METRICS_PORT=… (the worker has the next port)']);
  }
  return ports;
}

/** @param {At} at @param {ReturnType<typeof givenPorts>} ports */
async function requireFreePorts({ host }, ports) {
  for (const [port, choice] of ports) {
    const why = await whyNotListen(port, host);
    if (why === undefined) continue;
    const fault = why === 'EADDRINUSE' ? 'is taken' : `on ${host} cannot be listened on (${why})`;
    throw new Problem(`port ${port} ${fault}: choose another with ${choice}.`);
  }
}

/**
 * The environment of all our programs: the given one with our overrides.
 * @param {At} at @param {Given} given @param {import('./lib/stores.mjs').Stores} stores
 */
async function environment({ host, port, isLoopback }, given, { databaseUrl, redisUrl, roleUrls }) {
  /** @type {NodeJS.ProcessEnv} */
  const env = { ...process.env, DATABASE_URL: databaseUrl, REDIS_URL: redisUrl };
  if (roleUrls) {
    env.DATABASE_API_ROLE = new URL(roleUrls.api).username;
    env.DATABASE_WORKER_ROLE = new URL(roleUrls.worker).username;
  }
  env.NODE_OPTIONS = [HEAP_LIMITS, env.NODE_OPTIONS].join(' ');
  env.HOST = host;
  env.PORT = String(port);
  env.WORKER_PORT ||= String(await freePort());
  // They start sooner, and each has one port for a debugger.
  if (isWatching) env.API_PROCESSES = env.WORKER_PROCESSES = '1';
  // A service that others reach must not call addresses of this machine for them.
  if (isLoopback) env.DELIVERY_ALLOWED_NETWORKS ??= '127.0.0.0/8,::1/128';
  // No proxy needs to be configured.
  env.SHUTDOWN_DELAY_MS ||= '0';
  // It belongs to a DATABASE_URL, and there is none.
  if (!given.databaseUrl) delete env.MIGRATION_DATABASE_URL;
  // A given database may be shared, and its owner chooses its keys.
  if (!given.databaseUrl) env.SECRETS_KEYS = secretsKeys(env.SECRETS_KEYS);
  return env;
}

/**
 * The given keys, followed by the key of the embedded database, which the first start generates.
 * @param {string | undefined} given
 */
function secretsKeys(given) {
  const secrets = readSecrets(dir);
  const key = (secrets.secretsKey ??= `start:${randomBytes(32).toString('base64')}`);
  writeSecrets(dir, secrets);
  return [given, key].filter(Boolean).join(',');
}

/**
 * Only in the embedded database, because these passwords are public.
 * @param {Children} running @param {NodeJS.ProcessEnv} env
 */
async function createAccounts(running, env) {
  const secrets = readSecrets(dir);
  const { accounts = [] } = secrets;
  await Promise.all(
    ACCOUNTS.filter(([name = '']) => !accounts.includes(name)).map(([name = '', ...role]) => {
      const args = [CLI, 'users', 'create', name, '--password-stdin', '--if-missing', ...role];
      const options = { cwd: ROOT, env, input: `${name}-secret` };
      return running.run('setup', process.execPath, args, options);
    }),
  );
  writeSecrets(dir, { ...secrets, accounts: ACCOUNTS.map(([name = '']) => name) });
}

/**
 * @param {Children} running @param {string} name @param {string} url @param {NodeJS.ProcessEnv} env
 * @param {() => boolean} [isOutdated] whether not to wait until it is ready
 */
async function startApp(running, name, url, env, isOutdated = () => false) {
  const args = [`${isWatching ? DEVELOPED : 'dist'}/apps/${name}/src/main.js`];
  if (isInspected) args.unshift(`--inspect=127.0.0.1:${INSPECTOR_PORTS[name]}`);
  const program = running.start(name, process.execPath, args, { cwd: ROOT, env });
  try {
    const isReady = () => isOutdated() || answersOk(`${url}/health/ready`);
    await program.ready(isReady, READY_MS);
  } catch (error) {
    // If it only takes too long, the next one could not listen.
    await program.kill();
    throw error;
  }
  return program;
}

/**
 * For `npm run cli`, which finds the stores and the secret keys here.
 * @param {import('./cli.mjs').Instance} instance
 */
function writeInstance(instance) {
  const text = JSON.stringify({ ...instance, owner: identify(process.pid) });
  writeFileSync(`${instanceFile}.new`, text, { mode: 0o600 });
  renameSync(`${instanceFile}.new`, instanceFile);
}

/** @param {At} at @param {Given} given */
function printWelcome({ url, isLoopback }, given) {
  console.log(`
The console is at ${url}/console/. The API is described at ${url}/docs.
The logs are in ${join(shownDir, 'logs')}; Ctrl-C stops everything.`);
  if (!given.databaseUrl) {
    console.log(`
Customers: demo (password demo-secret), other (other-secret). It reports events: reporter (reporter-secret).
Operators: operator (operator-secret), and switch (switch-secret), which also reports events.
The tour in README.md uses them.
`);
    if (!isLoopback) {
      console.log('Everybody knows these passwords, and HOST lets others in: change them.\n');
    }
  }
  console.log(`ready ${url}`);
}

main().catch((/** @type {unknown} */ error) => fail(asProblem(error, dir)));
