import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cases } from '../faults/cases/index.js';
import { killingAll, killingBeforeRecord } from '../faults/cases/kills.js';
import { postgresKilled } from '../faults/cases/postgres.js';
import type { FaultCase } from '../faults/harness/fault-case.js';
import { Template } from '../faults/harness/template.js';
import { Random } from '../faults/harness/random.js';
import { runCase } from '../faults/harness/run-case.js';

/**
 * Some cases of `npm run test:faults`, which kills more often. Other tests run at the same time, so the load is
 * lower here.
 */
const selection: readonly FaultCase[] = [killingAll(1), killingBeforeRecord(1), postgresKilled];

const seed = Date.now() % 1_000_000;
let dir: string;
let template: Template;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'faults-'));
  template = await Template.make(join(dir, 'template'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

it.each(selection)(
  'loses nothing: $about',
  async (one) => {
    const random = new Random(seed);
    const { broken, evidence } = await runCase(one, { dir, template, random, rounds: 1 });
    expect(broken, `with the seed ${String(seed)}: ${evidence.join('\n')}`).toEqual([]);
  },
  240_000,
);

it('docs/reliability.md lists every case of the fault suite', async () => {
  const text = await readFile('docs/reliability.md', 'utf8');
  expect(cases.map(({ name }) => name).filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
});
