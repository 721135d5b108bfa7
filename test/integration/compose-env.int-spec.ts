import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

const SCRIPT = 'tools/compose-env.sh';
let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'compose-env-'));
  mkdirSync(join(dir, 'tools'));
  for (const file of [SCRIPT, 'package.json']) copyFileSync(file, join(dir, file));
});
afterEach(() => {
  rmSync(dir, { recursive: true });
});

const run = () => execFileSync(join(dir, SCRIPT), { stdio: 'pipe' });
const written = () => readFileSync(join(dir, '.env'), 'utf8');

it('writes what docker-compose.yml requires, for its owner only', () => {
  run();
  const required = readFileSync('docker-compose.yml', 'utf8').matchAll(/(?<!\$)\$\{([A-Z_]+):?\?/g);
  const names = written().match(/^[A-Z_]+(?==)/gm);
  expect(names).toEqual(expect.arrayContaining(Array.from(required, ([, name]) => name)));
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  // In a clone, a version between releases has its commit.
  expect(written()).toContain(`\nSWITCHHOOK_TAG=${version}\n`);
  expect(written()).toMatch(/^SECRETS_KEYS=k1:[A-Za-z0-9+/]{43}=$/m);
  expect(new Set(written().match(/PASSWORD=[0-9a-f]{48}$/gm)).size).toBe(5);
  expect(statSync(join(dir, '.env')).mode & 0o777).toBe(0o600);
});

it('keeps the passwords that are there', () => {
  run();
  const before = written();
  expect(run).toThrow('.env');
  expect(written()).toBe(before);
});
