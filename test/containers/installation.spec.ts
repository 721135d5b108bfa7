import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '#tools/eventually';
import { ROOT } from '#tools/settings';
import { request } from '../support/http.js';
import { during, Installation, run } from './support.js';

const TAG = `test-${randomBytes(4).toString('hex')}`;
const IMAGE = `switchhook:${TAG}`;
/** Every character of a keyboard, but the one that encloses it in .env. */
const CHARACTERS = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index))
  .join('')
  .replace("'", '');

beforeAll(() => run('docker', ['build', '-f', 'tools/Dockerfile', '-t', IMAGE, '.']), 900_000);
afterAll(() => run('docker', ['rmi', '--force', IMAGE]));

describe('the image', () => {
  const inside = (script: string) => run('docker', ['run', '--rm', IMAGE, 'sh', '-c', script]);

  it('has Node.js 24 on Debian 13', async () => {
    expect(await inside('node --version')).toMatch(/^v24\./);
    expect(await inside('cat /etc/debian_version')).toMatch(/^13\./);
  });

  it('has neither npm nor another installer of packages for Node.js', async () => {
    const found = await inside(
      'command -v npm npx yarn pnpm corepack; find / -xdev -name npm; true',
    );
    expect(found).toBe('');
  });

  it('runs as the user that the Kubernetes manifests name', async () => {
    expect(await inside('id')).toMatch(/^uid=1000\(node\) gid=1000\(node\)/);
  });
});

describe('the installation', () => {
  let installation: Installation;

  beforeAll(async () => {
    installation = await Installation.create(TAG, (name) => name + CHARACTERS);
    await installation.up('api=2', 'worker=2');
    await installation.subscribe();
  }, 300_000);
  afterAll(() => installation.remove());

  it('delivers events, with passwords of any character', async () => {
    await installation.report(200);
    await installation.delivered();
  });

  it('has no password among the arguments of a process', async () => {
    const shown = await installation.compose('top');
    expect(shown).toContain('redis-server');
    expect(shown).not.toContain(CHARACTERS);
  });

  it('bounds the log of each container', async () => {
    const ours = ['postgres', 'redis', 'migrate', 'api', 'worker', 'proxy'];
    const logs = await installation.inspect('{{json .HostConfig.LogConfig.Config}}', ...ours);
    expect(new Set(logs)).toEqual(new Set(['{"max-file":"4","max-size":"50m"}']));
  });

  it('does not migrate again for a command', async () => {
    const started = () => installation.inspect('{{.State.StartedAt}}', 'migrate');
    const before = await started();
    await installation.compose('run', '--rm', 'cli', '--version');
    expect(await started()).toEqual(before);
  });

  it('shows the API the address of a client behind the proxy of the host', async () => {
    const call = {
      headers: { 'x-forwarded-for': '198.51.100.7', 'sec-fetch-site': 'same-origin' },
      body: { username: 'demo', password: 'demo-secret' },
    };
    expect((await request('POST', `${installation.url}/v1/session`, call)).status).toBe(200);
    const audit = `${installation.url}/v1/audit`;
    const [entry] = (await request('GET', audit, { auth: 'demo:demo-secret' })).json<object[]>();
    expect(entry).toMatchObject({ address: '198.51.100.7' });
  });

  it('has one port for any number of API containers', async () => {
    const first = await installation.containers('api');
    await installation.up('api=12', 'worker=2');
    await run('docker', ['stop', '--time', '30', ...first]);
    await installation.report(100);
    await installation.up('api=2', 'worker=2');
    await installation.delivered();
  });

  it('loses nothing and answers every request while API containers are replaced', async () => {
    const statuses: number[] = [];
    const ask = async () => {
      const call = { auth: 'demo:demo-secret' };
      statuses.push((await request('GET', `${installation.url}/v1/webhooks`, call)).status);
    };
    const replace = async () => {
      for (const container of await installation.containers('api')) {
        await run('docker', ['stop', '--time', '30', container]);
        await run('docker', ['rm', container]);
        await installation.up('api=2', 'worker=2');
      }
    };
    await during(replace, ask);
    expect(new Set(statuses)).toEqual(new Set([200]));
  });

  it('says when to repeat a request while PostgreSQL is away', async () => {
    const timesWithoutApi = async () =>
      (await installation.compose('logs', 'proxy')).split(`'api' has no server available`).length;
    const before = await timesWithoutApi();
    await installation.compose('stop', 'postgres');
    await eventually(timesWithoutApi, (times) => times > before);
    const call = { auth: 'demo:demo-secret' };
    const answer = await request('GET', `${installation.url}/v1/webhooks`, call);
    await installation.compose('start', 'postgres');
    expect(answer.headers['retry-after']).toBe('5');
    const error = 'The service cannot reach its database now.';
    expect(answer.json()).toMatchObject({ status: 503, code: 'unavailable', error });
  });

  it('stops within its grace under load, and loses nothing', async () => {
    const before = installation.reported;
    const reporting = installation.report(2_000);
    await eventually(() => installation.reported > before + 500);
    await installation.compose('stop', 'api', 'worker');
    expect(new Set(await installation.inspect('{{.State.ExitCode}}', 'api', 'worker'))).toEqual(
      new Set(['0']),
    );
    await installation.up('api=2', 'worker=2');
    await reporting;
    await installation.delivered();
  });

  it('works through PgBouncer', async () => {
    installation.set({
      COMPOSE_PROFILES: 'pgbouncer',
      DATABASE_HOST: 'pgbouncer:6432',
      DATABASE_PREPARED_STATEMENTS: 'false',
    });
    await installation.compose('build', 'pgbouncer');
    await installation.up('api=2', 'worker=2');
    const shown = await installation.compose('logs', '--no-log-prefix', 'pgbouncer');
    expect(shown).toMatch(/login attempt: .*user=switchhook_worker/);
    await installation.report(100);
    await installation.delivered();
  });
});

it('an installation runs on stores of its own, without the bundled ones', async () => {
  const installation = await Installation.create(TAG, (name) => name + CHARACTERS);
  installation.files.push(join(ROOT, 'test/containers/own-stores.yml'));
  installation.set({
    DATABASE_URL: 'postgres://own-postgres/switchhook',
    REDIS_URL: 'redis://own-redis',
    REDIS_PASSWORD: '',
    BUNDLED_POSTGRES: '0',
    BUNDLED_REDIS: '0',
  });
  try {
    await installation.up();
    expect(await installation.containers('postgres', 'redis')).toEqual([]);
    await installation.subscribe();
    await installation.report(50);
    await installation.delivered();
  } finally {
    await installation.remove();
  }
});
