import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHttpApplication } from '#libs/http';
import { readConfig, settingsOf } from '#libs/runtime';
import { ApiModule } from '../../apps/api/src/api.module.js';
import { WorkerModule } from '../../apps/worker/src/worker.module.js';
import { runCliProcess } from '../support/command-line.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { environmentOf } from '../support/environment.js';
import { startApi, startWorker } from '../support/processes.js';

/** What Kubernetes sets for a Service named as one of our settings begins, such as `worker` for `WORKER_PORT`. */
const FOREIGN = 'tcp://10.96.0.10:3001';
const NAMES = Object.keys(readConfig({ DATABASE_URL: 'postgres://unused' }));

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** The settings that only other programs read, with a value that is not meant for us. */
function foreignTo(program: 'api' | 'worker' | 'cli') {
  const own = settingsOf(program);
  const others = NAMES.filter((name) => !own.includes(name));
  return Object.fromEntries(others.map((name) => [name, FOREIGN]));
}

describe('settings that others set', () => {
  it.each([
    ['the API', 'api', startApi],
    ['the worker', 'worker', startWorker],
  ] as const)('do not keep %s from starting if it does not read them', async (_, kind, start) => {
    const foreign = foreignTo(kind);
    expect(foreign).toHaveProperty(kind === 'api' ? 'WORKER_PORT' : 'API_PROCESSES');
    const started = await start({ ...foreign, DATABASE_URL: database.url });
    expect(await started.stop()).toBe('exited with code 0');
  });

  it('do not keep the command line from its work', async () => {
    const env = { ...foreignTo('cli'), DATABASE_URL: database.url };
    expect(env).toHaveProperty('WORKER_PORT');
    for (const args of [['migrate'], ['users', 'list']]) {
      expect(await runCliProcess(args, { env })).toMatchObject({ code: 0 });
    }
  });

  it.each([
    ['api', ApiModule],
    ['worker', WorkerModule],
  ] as const)('are not read by the %s', async (kind, module) => {
    const config = readConfig(
      environmentOf(kind, { DATABASE_URL: database.url, LOG_LEVEL: 'silent' }),
    );
    const read = new Set<string | symbol>();
    const watched = new Proxy(config, {
      get: (target, name) => {
        read.add(name);
        return Reflect.get(target, name) as unknown;
      },
    });
    const app = await createHttpApplication(module.forConfig(watched));
    await app.listen(0, '127.0.0.1');
    await app.close();
    const own = settingsOf(kind);
    expect(NAMES.filter((name) => read.has(name) && !own.includes(name))).toEqual([]);
    expect(read).toContain('DATABASE_URL');
  });
});
