import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { eventually } from '#tools/eventually';
import { keepRunning } from '#tools/keep-running';
import { freePort, whyNotListen } from '#tools/net';
import type { Program } from '#tools/programs';
import { ROOT } from '#tools/settings';
import { programs } from '../support/processes.js';

const temporaryDirectory = () => mkdtempSync(join(tmpdir(), 'start-'));

async function start(
  dataDir: string,
  settings: Record<string, string> = {},
): Promise<{ program: Program; url: string }> {
  const port = String(await freePort());
  const env = { PATH: process.env.PATH, DATA_DIR: dataDir, PORT: port, ...settings };
  const program = programs.start('start', process.execPath, ['tools/start.mjs'], {
    cwd: ROOT,
    env,
  });
  return { program, url: `http://127.0.0.1:${port}` };
}

async function refusal(
  dataDir: string,
  settings?: Record<string, string>,
): Promise<[string, string]> {
  const { program } = await start(dataDir, settings);
  const how = await program.exited;
  return [how, program.output()];
}

describe('npm start refuses with one sentence', () => {
  it.each([
    ['a file', () => '/etc/hostname', 'it is not a directory.'],
    ['a path below a file', () => '/etc/hostname/data', 'it is not a directory, or lies below'],
    ['a directory in which nothing can be created', () => '/proc/none/data', 'nothing can be'],
    [
      'a directory whose logs are a file',
      () => withFile('logs', ''),
      'it is not a directory (logs).',
    ],
  ])('%s as DATA_DIR', async (_what, dataDir, reason) => {
    const dir = dataDir();
    const [how, output] = await refusal(dir);
    expect(how).toBe('exited with code 1');
    expect(output).toMatch(/^switchhook: DATA_DIR [^\n]* Choose another DATA_DIR\.\n$/);
    expect(output).toContain(`${dir} cannot be used: ${reason}`);
  });

  it.each([{}, { REDIS_URL: 'redis://127.0.0.1:6379' }, { DATABASE_URL: '' }])(
    'to be production with the demo accounts of its own database, with %j',
    async (settings) => {
      const dir = temporaryDirectory();
      const [how, output] = await refusal(dir, { NODE_ENV: 'production', ...settings });
      expect(how).toBe('exited with code 1');
      expect(output).toBe(
        'switchhook: NODE_ENV is production, and the embedded database has demo accounts with public ' +
          'passwords: set DATABASE_URL (docs/operating/install.md), or unset NODE_ENV to try the service out.\n',
      );
      expect(readdirSync(dir)).toEqual([]);
    },
  );

  it('a lock that cannot be read', async () => {
    const dir = temporaryDirectory();
    mkdirSync(join(dir, 'start.lock'));
    const [how, output] = await refusal(dir);
    expect(how).toBe('exited with code 1');
    expect(output).toBe(
      `switchhook: ${dir}/start.lock cannot be read (EISDIR): remove it when nothing runs there.\n`,
    );
  });

  it.each([
    ['processes.json', '{"half":'],
    ['processes.json', '[null]'],
    ['postgres.json', '{}'],
  ])('a damaged %s (%s)', async (name, text) => {
    const dir = withFile(name, text);
    mkdirSync(join(dir, 'postgres'));
    const [how, output] = await refusal(dir);
    expect(how).toBe('exited with code 1');
    expect(output).toMatch(/^(starting PostgreSQL and Redis …\n)?switchhook: [^\n]*\n$/);
    expect(output).toContain(`${dir}/${name} is damaged: `);
  });

  it.each([
    ['PORT', 'PORT=….', 0],
    ['WORKER_PORT', 'WORKER_PORT=….', 0],
    ['METRICS_PORT', 'METRICS_PORT=….', 0],
    ['METRICS_PORT', 'METRICS_PORT=… (the worker has the next port).', 1],
  ])('a port that is taken, as %s (%s)', async (setting, choice, offset) => {
    const [server, port] = await taken(offset);
    try {
      const settings = { [setting]: String(port - offset) };
      expect(await refusal(temporaryDirectory(), settings)).toEqual([
        'exited with code 1',
        `switchhook: port ${port} is taken: choose another with ${choice}\n`,
      ]);
    } finally {
      server.close();
    }
  });

  it.each([
    ['PORT', 'x', 65_535],
    ['WORKER_PORT', 'x', 65_535],
    ['METRICS_PORT', '65535', 65_534],
  ])('%s=%s, which is no port', async (setting, value, last) => {
    expect(await refusal(temporaryDirectory(), { [setting]: value })).toEqual([
      'exited with code 1',
      `switchhook: ${setting} must be a whole number from 1 to ${last}.\n`,
    ]);
  });

  /** A taken port. The port below it by `offset` is free, unless it is the same. */
  async function taken(offset: number): Promise<[Server, number]> {
    for (;;) {
      const server = createServer().listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const why = offset > 0 ? await whyNotListen(port - offset, '127.0.0.1') : undefined;
      if (why === undefined) return [server, port];
      server.close();
    }
  }

  function withFile(name: string, text: string): string {
    const dir = temporaryDirectory();
    writeFileSync(join(dir, name), text);
    return dir;
  }
});

describe('npm start', () => {
  const dir = temporaryDirectory();
  let program: Program;
  let url: string;

  beforeAll(async () => {
    // Nobody holds this lock: its content names no process.
    writeFileSync(join(dir, 'start.lock'), '[null, {"pid": "one"}]');
    const settings = { API_PROCESSES: '1', WORKER_PROCESSES: '2' };
    ({ program, url } = await start(dir, settings));
    await program.ready(() => program.output().includes('\nready '), 120_000);
  });
  afterAll(() => program.stop());

  it('says what it does, where the console is, and where the API is described', () => {
    const output = program.output();
    for (const step of [
      'starting PostgreSQL and Redis',
      'preparing the database',
      'starting the API and 2 worker processes',
    ]) {
      expect(output).toMatch(
        new RegExp(`^${step} …\\n(${step} … \\d+ s\\n)*${step}: done in`, 'm'),
      );
    }
    expect(output).toContain(
      `The console is at ${url}/console/. The API is described at ${url}/docs.\n`,
    );
  });

  it('redirects a browser from its address to the console', async () => {
    const { url: page, status } = await fetch(url);
    expect([page, status]).toEqual([`${url}/console/`, 200]);
    const other = await fetch(`${url}/other`);
    expect([other.redirected, other.status]).toEqual([false, 404]);
  });

  it("answers the README's tour the same each time", async () => {
    const receiver = String(await freePort());
    const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
    const [, tour = ''] = /^## A tour\n(.*?)^## /ms.exec(readme) ?? [];
    const script = tour
      .match(/^ {4}.*$/gm)
      ?.join('\n')
      .replaceAll('http://127.0.0.1:3000', url)
      .replaceAll('4000', receiver);
    for (const run of ['first', 'second']) {
      const env = { PATH: process.env.PATH, HOME: dir, DATA_DIR: dir };
      const args = ['-euc', script ?? ''];
      const walk = programs.start(`tour-${run}`, 'bash', args, { cwd: ROOT, env });
      await walk.exited;
      const output = walk.output();
      const seen = [
        output.match(/"name":"My first application"/g)?.length,
        output.match(/"deliveries":1/g)?.length,
        output.match(/verified/g)?.length,
        output.match(/"state":"succeeded"/g)?.length,
      ];
      expect([run, seen, output]).toEqual([run, [1, 1, 1, 1], output]);
    }
  });

  it.each(['worker', 'api', 'redis', 'postgres'])(
    'starts the %s again when it was killed, and says so',
    async (name) => {
      process.kill(pidOf(name), 'SIGKILL');
      await eventually(program.output.bind(program), (text) =>
        text.includes(`switchhook: ${name} runs again.\n`),
      );
      expect(program.ending).toBeUndefined();
      expect(program.output()).toContain(`switchhook: ${name} was ended by SIGKILL`);
      expect(program.output()).toContain(`switchhook: starting ${name} again in 1 s …`);
    },
  );

  it('ends on SIGTERM with everything that it has restarted', async () => {
    program.signal('SIGTERM');
    expect(await program.exited).toBe('exited with code 0');
    expect(() => readFileSync(join(dir, 'processes.json'))).toThrow('ENOENT');
  });

  function pidOf(name: string): number {
    const text = readFileSync(join(dir, 'processes.json'), 'utf8');
    const entries = JSON.parse(text) as { name: string; pid: number }[];
    return entries.find((entry) => entry.name === name)?.pid ?? NaN;
  }
});

it('a free port is given once, even if nothing listens there yet', async () => {
  // With so many, random ports would repeat.
  const ports = await Promise.all(Array.from({ length: 1_000 }, freePort));
  expect(new Set(ports).size).toBe(ports.length);
});

it('a program that keeps dying is started again after delays that double up to the longest', async () => {
  const said = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  let starts = 0;
  const dying = () => programs.start('dying', process.execPath, ['-e', 'process.exit(3)']);
  const startAgain = () => {
    starts += 1;
    return starts === 2 ? Promise.reject(new Error('not ready')) : Promise.resolve(dying());
  };
  // A program that ran as long as the longest delay starts with the shortest one again.
  const delays = { firstMs: 1_000, longestMs: 4_000 };
  try {
    await keepRunning(dying(), startAgain, () => starts === 3, delays);
    const waits = said.mock.calls.flatMap(
      ([text]) => /again in (\d+) s/.exec(String(text))?.[1] ?? [],
    );
    expect(waits).toEqual(['1', '2', '4']);
  } finally {
    said.mockRestore();
  }
});

describe('npm run cli, where the development packages were removed,', () => {
  let dir: string;
  beforeEach(() => {
    dir = temporaryDirectory();
    cpSync(join(ROOT, 'tools'), join(dir, 'tools'), { recursive: true });
    mkdirSync(join(dir, 'node_modules'));
    const packages = { 'node_modules/kept': { version: '1.0.0' } };
    writeFileSync(join(dir, 'node_modules/.package-lock.json'), JSON.stringify({ packages }));
  });

  async function cli(): Promise<[string, string]> {
    const env = { PATH: process.env.PATH };
    const program = programs.start('cli', process.execPath, ['tools/cli.mjs'], { cwd: dir, env });
    return [await program.exited, program.output()];
  }

  it('neither installs nor builds', async () => {
    mkdirSync(join(dir, 'dist/apps/cli/src'), { recursive: true });
    writeFileSync(join(dir, 'dist/apps/cli/src/main.js'), `console.log('the command line')`);
    expect(await cli()).toEqual(['exited with code 0', 'the command line\n']);
    expect(existsSync(join(dir, 'dist/.prepare.lock'))).toBe(false);
  });

  it('refuses to run when dist was removed, too', async () => {
    expect(await cli()).toEqual([
      'exited with code 1',
      'switchhook: dist and the development packages are missing, so nothing is installed or built here: ' +
        'run "npm ci --include=dev" and "npm run build".\n',
    ]);
    expect(existsSync(join(dir, 'dist'))).toBe(false);
  });

  it('names the DATA_DIR of an npm start that runs with another one, when a command fails', async () => {
    mkdirSync(join(dir, 'dist/apps/cli/src'), { recursive: true });
    writeFileSync(join(dir, 'dist/apps/cli/src/main.js'), 'process.exitCode = 1;');
    expect(await cli()).toEqual([
      'exited with code 1',
      'No npm start runs here: commands on the API need --url, commands on the database need DATABASE_URL.\n',
    ]);
    writeFileSync(join(dir, 'tools/start.mjs'), 'setInterval(() => undefined, 1_000);');
    const env = { PATH: process.env.PATH, DATA_DIR: 'else=where' };
    const args = ['tools/start.mjs', '--watch'];
    const other = programs.start('other', process.execPath, args, { cwd: dir, env });
    expect(await cli()).toEqual([
      'exited with code 1',
      `npm start runs here with another DATA_DIR: repeat the command with DATA_DIR=${dir}/else=where.\n`,
    ]);
    await other.kill();
  });
});
