// `npm run cli -- …`: the command line, on the instance that `npm start` runs here, if it does.
import { join } from 'node:path';
import { prepare } from './lib/prepare.mjs';
import { report } from './lib/problem.mjs';
import { isAlive, readText } from './lib/processes.mjs';
import { dataDir, requireNode, ROOT } from './lib/settings.mjs';

/**
 * @typedef {{ url: string, host: string, port: number, databaseUrl: string, redisUrl: string,
 *   secretsKeys: string | undefined }} Instance what `npm start` writes down
 */

/** The running instance, or undefined. */
function runningInstance() {
  const text = readText(join(dataDir(process.env), 'instance.json'));
  if (text === undefined) return undefined;
  /** @type {Instance & { owner: import('./lib/processes.mjs').Identity }} */
  const instance = JSON.parse(text);
  return isAlive(instance.owner) ? instance : undefined;
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
  // Not known here is which commands need one; those that do fail for the lack of it.
  process.on('exit', (code) => {
    if (code !== 0) console.error('No npm start runs here, and DATABASE_URL is not set.');
  });
}

try {
  requireNode();
  await prepare();
} catch (error) {
  report(error);
  process.exit(1);
}
useInstance();

// In this very process: input, output, signals and the exit code need no passing on.
const program = join(ROOT, 'dist/apps/cli/src/main.js');
process.argv = [process.execPath, program, ...process.argv.slice(2)];
process.setSourceMapsEnabled(true);
await import(program);
