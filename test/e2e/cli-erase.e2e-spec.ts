import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CliCustomer } from '../support/cli-customer.js';

const NUMBER = '+14075550123';

const cli = new CliCustomer();
let dir: string;
let file: string;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'erase-'));
  file = join(dir, 'number.txt');
  await writeFile(file, `${NUMBER}\n`);
});
afterAll(() => rm(dir, { recursive: true }));

it('counts and erases the events with a text', async () => {
  await cli.report(JSON.stringify({ to: NUMBER }));
  const erase = (...args: string[]) => cli.run('events', 'erase', '--text-file', file, ...args);
  expect(await erase('--dry-run')).toEqual({
    code: 0,
    stdout: 'found in 1 event and 0 keys of producers\n',
    stderr: '',
  });
  expect((await erase('--wait')).stdout).toBe(
    'erased 1 event and 0 keys of producers, 0 waiting deliveries cancelled\n',
  );
  const started = await erase();
  expect(started.stdout).toMatch(/^started erasure [0-9a-f-]{36}: http/);
});

it('names no text in its failures', async () => {
  await writeFile(file, 'ann');
  const short = await cli.run('events', 'erase', '--text-file', file);
  expect([short.code, short.stderr]).toEqual([1, expect.stringContaining('contains')]);
  expect(short.stderr).not.toContain('ann');
  const both = await cli.run('events', 'erase', '--text-file', '-');
  expect([both.code, both.stderr]).toEqual([
    2,
    'error: --text-file - and --password-stdin both read standard input\n',
  ]);
});
