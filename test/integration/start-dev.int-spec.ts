import { mkdtempSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { eventually } from '#tools/eventually';
import { freePort } from '#tools/net';
import { ROOT } from '#tools/settings';
import { bundlePrograms } from '#tools/sources';
import { createTestDatabase } from '../support/database.js';
import { programs } from '../support/processes.js';

const SOURCE = 'libs/kernel/src/index.ts';

it('npm run start:dev restarts the API and the worker when a source is saved', async () => {
  const database = await createTestDatabase();
  const dir = mkdtempSync(join(tmpdir(), 'start-dev-'));
  const env = {
    PATH: process.env.PATH,
    DATA_DIR: dir,
    PORT: String(await freePort()),
    DATABASE_URL: database.url,
    REDIS_URL: process.env.TEST_REDIS_URL,
  };
  const args = ['tools/start.mjs', '--watch'];
  const program = programs.start('start-dev', process.execPath, args, { cwd: ROOT, env });
  const said = program.output.bind(program);
  const processes = () => {
    const text = readFileSync(join(dir, 'processes.json'), 'utf8');
    const entries = JSON.parse(text) as { name: string; pid: number }[];
    return new Map(entries.map(({ name, pid }) => [name, pid]));
  };
  await program.ready(() => said().includes('\nready '), 120_000);
  const before = processes();

  utimesSync(join(ROOT, SOURCE), new Date(), new Date());
  await eventually(said, (text) => text.includes(`\n${SOURCE} saved: api and worker ready after `));
  const after = processes();
  expect([...before.keys()]).toEqual(['api', 'worker']);
  for (const [name, pid] of before) expect(after.get(name)).not.toBe(pid);

  program.signal('SIGTERM');
  expect(await program.exited).toBe('exited with code 0');
  await database.drop();
});

it('npm run start:dev reports wrong syntax', async () => {
  const wrong = join(mkdtempSync(join(tmpdir(), 'wrong-')), 'wrong');
  writeFileSync(`${wrong}.ts`, 'const port: = 3;\n');
  await expect(bundlePrograms([wrong])).rejects.toThrow(/Unexpected token[^]*wrong\.ts:1:13/);
});
