import { randomBytes } from 'node:crypto';
import {
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readState } from './data-dir.mjs';
import { freePort } from './net.mjs';
import { binaries, ENVIRONMENT, readPostmaster, serverUser } from './postgres-files.mjs';
import { Problem } from './problem.mjs';
import { codeOf, end, identify } from './processes.mjs';

/**
 * @typedef {import('./programs.mjs').Programs} Programs
 * @typedef {{ password: string, rolePassword?: string, secretsKey?: string, accounts?: string[] }}
 *   Secrets
 */

const USER = 'switchhook';
/** Roles of the API and the worker. `migrate`, as the user above, grants their rights. */
const ROLES = { api: 'switchhook_api', worker: 'switchhook_worker' };
const HALF_MADE = 'postgres.new-';
/** Recovery after a kill reads the log since the last checkpoint: at most five minutes' worth. */
const START_MS = 120_000;
const RETRY_MS = 300;
const RETRY_FOR_MS = 20_000;

/**
 * The data directory relative to PostgreSQL's working directory. Node changes into it while it is still root, so the
 * data may lie where the server's user cannot walk to, such as below /root.
 */
const HERE = ['-D', '/proc/self/cwd'];

const LOST = 'it holds the passwords and the encryption key of the database beside it;';

/** @param {Partial<Secrets> | null} value @returns {value is Secrets} */
const isSecrets = (value) => typeof value?.password === 'string';

/** @throws Problem where the embedded PostgreSQL cannot run */
export function requireEmbeddedPostgres() {
  const machine = `${process.platform} ${process.arch}`;
  const isHere = machine === 'linux x64' && existsSync('/lib64/ld-linux-x86-64.so.2');
  if (isHere) return;
  throw new Problem(
    `the embedded PostgreSQL is for Linux x64 with glibc, and this is ${machine}: ` +
      'set DATABASE_URL to a PostgreSQL 15 or later.',
  );
}

/**
 * Starts PostgreSQL on loopback with its data in `dir`, which the first start creates.
 * @param {{ dir: string, database: string, settings?: Record<string, string>, version?: string,
 *   port?: number | undefined }} where `database` is created with the data; `settings` of the server, on
 *   top of ours; `version` as for {@link binaries}; `port` by default a free one
 * @param {Programs} programs
 * @returns {Promise<{ url: string, roleUrls: { api: string, worker: string } | undefined,
 *   program: import('./programs.mjs').Program }>} `roleUrls` unless the data predates roles
 */
export async function startPostgres(
  { dir, database, settings: own = {}, version, port: fixedPort },
  programs,
) {
  const cluster = join(dir, 'postgres');
  const user = serverUser(cluster);
  const bin = join(binaries(user, version), 'bin');
  const options = { ...user, env: ENVIRONMENT };
  if (!existsSync(cluster)) await create(dir, database, bin, options, programs);
  const { password, rolePassword } = readSecrets(dir);
  await endStray(cluster);

  for (const deadline = Date.now() + RETRY_FOR_MS; ;) {
    const port = fixedPort ?? (await freePort());
    const settings = {
      port,
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      max_connections: 200,
      ...own,
    };
    const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const program = programs.start('postgres', join(bin, 'postgres'), [...HERE, ...args], {
      ...options,
      cwd: cluster,
    });
    const isReady = () => {
      const { pid, state } = readPostmaster(cluster) ?? {};
      // A replica stays in the state `standby`.
      return pid === program.pid && ['ready', 'standby'].includes(state ?? '');
    };
    try {
      await program.ready(isReady, START_MS);
    } catch (error) {
      // Another process took the port, or backends of a killed server are still ending.
      const passes = /Address already in use|still in use|lock file/.test(program.output());
      if (!passes || Date.now() > deadline) throw error;
      await sleep(RETRY_MS);
      continue;
    }
    const as = (/** @type {string} */ role, /** @type {string} */ secret) =>
      `postgres://${role}:${secret}@127.0.0.1:${port}/${database}`;
    const roleUrls = rolePassword
      ? { api: as(ROLES.api, rolePassword), worker: as(ROLES.worker, rolePassword) }
      : undefined;
    return { url: as(USER, password), roleUrls, program };
  }
}

/**
 * Reads the file beside the data: its passwords, contents and keys.
 * @param {string} dir
 */
export function readSecrets(dir) {
  const file = join(dir, 'postgres.json');
  const secrets = readState(
    file,
    isSecrets,
    `${LOST} restore the file, or choose another DATA_DIR.`,
  );
  if (secrets) return secrets;
  throw new Problem(`there is data in ${join(dir, 'postgres')}, but its postgres.json is missing.`);
}

/**
 * Writes the file of {@link readSecrets} atomically.
 * @param {string} dir @param {Secrets} secrets
 */
export function writeSecrets(dir, secrets) {
  const file = join(dir, 'postgres.json');
  writeFileSync(`${file}.new`, JSON.stringify(secrets), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/**
 * @param {string} dir @param {string} database @param {string} bin
 * @param {{ uid?: number, gid?: number, env: NodeJS.ProcessEnv }} options of its programs
 * @param {Programs} programs
 */
async function create(dir, database, bin, options, programs) {
  removeHalfMade(dir);
  const fresh = mkdtempSync(join(dir, HALF_MADE));
  if (options.uid !== undefined) chownSync(fresh, options.uid, options.gid ?? options.uid);
  const here = { ...options, cwd: fresh };
  const kind = ['--encoding=UTF8', '--locale=C', '--auth=trust', '--no-instructions'];
  // Its child processes would outlive it alone.
  const initdb = { ...here, withGroup: true };
  await programs.run('initdb', join(bin, 'initdb'), [...HERE, '-U', USER, ...kind], initdb);

  // `trust` only until here, where nobody can connect: an initial password would need a file that the server's user can
  // read.
  const password = randomBytes(24).toString('hex');
  const rolePassword = randomBytes(24).toString('hex');
  const sql = [
    `ALTER USER ${USER} PASSWORD '${password}'`,
    ...Object.values(ROLES).map((role) => `CREATE ROLE ${role} LOGIN PASSWORD '${rolePassword}'`),
    `CREATE DATABASE ${database}`,
  ]
    .map((statement) => `${statement};\n\n`)
    .join('');
  const single = ['--single', '-j', ...HERE, '-c', 'exit_on_error=on', 'postgres'];
  await programs.run('initdb', join(bin, 'postgres'), single, { ...here, input: sql });
  writeFileSync(join(fresh, 'pg_hba.conf'), 'host all all 127.0.0.1/32 scram-sha-256\n');

  writeSecrets(dir, { password, rolePassword });
  renameSync(fresh, join(dir, 'postgres'));
}

/**
 * Removes the leftovers of a killed start. If something still writes into them, the next start does.
 * @param {string} dir
 */
function removeHalfMade(dir) {
  for (const name of readdirSync(dir).filter((entry) => entry.startsWith(HALF_MADE))) {
    try {
      rmSync(join(dir, name), { recursive: true, force: true });
    } catch (error) {
      if (codeOf(error) !== 'ENOTEMPTY') throw error;
    }
  }
}

/**
 * Ends an unrecorded server that still runs on this data. It is certainly ours: its pid file in our directory names it,
 * and its working directory is the same.
 * @param {string} cluster
 */
async function endStray(cluster) {
  const { pid } = readPostmaster(cluster) ?? {};
  const server = pid ? identify(pid) : undefined;
  if (!server) return;
  const directory = workingDirectory(server.pid);
  if (directory === realpathSync(cluster)) {
    await end(server, [
      ['SIGINT', 10_000],
      ['SIGQUIT', 10_000],
    ]);
  } else if (directory !== undefined) {
    // The id now belongs to another process, and would keep the server from starting.
    rmSync(join(cluster, 'postmaster.pid'), { force: true });
  }
}

/**
 * Undefined for another user's process, whose id PostgreSQL itself ignores.
 * @param {number} pid
 */
function workingDirectory(pid) {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return undefined;
  }
}
