// `npm run cli -- …`: the command line. It uses the instance that `npm start` runs here, if any.
import { join } from 'node:path';
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

function useInstance() {
  if (process.env.DATABASE_URL) return;
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
    if (code !== 0) {
      console.error(
        'No npm start runs here: commands on the API need --url, commands on the database need DATABASE_URL.',
      );
    }
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
