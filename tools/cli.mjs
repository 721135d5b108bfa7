// `npm run cli -- …`: the command line. It uses the instance that `npm start` runs here, if any.
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readState } from './lib/data-dir.mjs';
import { isProductionInstallation, prepare, requireBuild } from './lib/prepare.mjs';
import { report } from './lib/problem.mjs';
import { isAlive } from './lib/processes.mjs';
import { dataDir, requireNode, ROOT } from './lib/settings.mjs';

/**
 * @typedef {{ url: string, host: string, port: number, databaseUrl: string, redisUrl: string,
 *   secretsKeys: string | undefined }} Instance what `npm start` writes down
 * @typedef {Instance & { owner: import('./lib/processes.mjs').Identity }} Owned
 */

/** @param {Partial<Owned> | null} value @returns {value is Owned} */
const isInstance = (value) => typeof value?.databaseUrl === 'string' && (value.owner?.pid ?? 0) > 0;

/** The running instance, or undefined. */
function runningInstance() {
  const file = join(dataDir(process.env), 'instance.json');
  const instance = readState(file, isInstance, 'stop npm start, and start it again.');
  return instance && isAlive(instance.owner) ? instance : undefined;
}

/** The data directories of each npm start of this folder, as far as this user may see them; none without /proc. */
function runningDataDirs() {
  const start = join(ROOT, 'tools/start.mjs');
  return processIds().flatMap((pid) => {
    try {
      const [, script = ''] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      if (resolve(readlinkSync(`/proc/${pid}/cwd`), script) !== start) return [];
      const variables = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
      const [, dir] = variables.find((one) => one.startsWith('DATA_DIR='))?.split(/=(.*)/s) ?? [];
      return [dataDir({ DATA_DIR: dir })];
    } catch {
      // It belongs to another user, or has just ended.
      return [];
    }
  });
}

function processIds() {
  return existsSync('/proc') ? readdirSync('/proc').filter((name) => /^\d+$/.test(name)) : [];
}

function useInstance() {
  if (process.env.DATABASE_URL || process.env.DATABASE_URL_FILE) return;
  const instance = runningInstance();
  if (instance) {
    process.env.DATABASE_URL = instance.databaseUrl;
    process.env.REDIS_URL ||= instance.redisUrl;
    if (instance.secretsKeys) process.env.SECRETS_KEYS = instance.secretsKeys;
    process.env.HOST ||= instance.host;
    process.env.PORT ||= String(instance.port);
    return;
  }
  // It is unknown here which commands need one; those that do fail with their own message.
  process.on('exit', (code) => {
    if (code === 0) return;
    const [other] = runningDataDirs();
    console.error(
      other === undefined
        ? 'No npm start runs here: commands on the API need --url, commands on the database need DATABASE_URL.'
        : `npm start runs here with another DATA_DIR: repeat the command with DATA_DIR=${other}.`,
    );
  });
}

try {
  requireNode();
  if (isProductionInstallation()) requireBuild('dist and the development packages are missing');
  else await prepare();
  useInstance();
} catch (error) {
  report(error);
  process.exit(1);
}

// In the same process, so that input, output, signals and the exit code need no forwarding.
const program = join(ROOT, 'dist/apps/cli/src/main.js');
process.argv = [process.execPath, 'npm run cli --', ...process.argv.slice(2)];
process.setSourceMapsEnabled(true);
await import(program);
