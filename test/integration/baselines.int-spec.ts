import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { answersOk, freePort } from '#tools/net';
import { ROOT } from '#tools/settings';
import { compile } from '#tools/suite';
import { testDatabaseUrl, testRedisUrl } from '../support/environment.js';
import { programs } from '../support/processes.js';

const BASELINES = 'test/bench/baselines';
/** Within the repository, where the programs find their packages. */
const COMPILED = 'dist/tested-baselines';

/** Arguments besides the port. */
const ARGS: Record<string, string[]> = {
  'bull-consumer': ['http://127.0.0.1:9/', testRedisUrl().toString(), '0', '1'],
  'post-on': ['http://127.0.0.1:9/'],
  repository: [testDatabaseUrl().toString()],
};

beforeAll(() => compile(['bench/baselines'], COMPILED));
afterAll(() => rmSync(join(ROOT, COMPILED), { recursive: true, force: true }));

it.each(readdirSync(join(ROOT, BASELINES)).map((file) => file.replace('.main.ts', '')))(
  'the baseline %s starts as the benchmark compiles it',
  async (name) => {
    const port = await freePort();
    const main = join(COMPILED, BASELINES, `${name}.main.js`);
    const args = [main, String(port), ...ARGS[name]!];
    const env = { PATH: process.env.PATH };
    const program = programs.start(name, process.execPath, args, { cwd: ROOT, env });
    await program.ready(() => answersOk(`http://127.0.0.1:${port}/health/ready`), 60_000);
    expect(await program.kill()).toBe('was ended by SIGKILL');
  },
);
