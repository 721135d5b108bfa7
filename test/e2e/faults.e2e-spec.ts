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
 * lower here. The first is the one whose producers must notice nothing.
 */
const selection: readonly FaultCase[] = [killingBeforeRecord(1), killingAll(1), postgresKilled];

/** Cases one after the other on one installation, because starting one takes longer than most cases. */
function inSequence(cases: readonly FaultCase[]): FaultCase {
  const noticed: string[] = [];
  return {
    name: 'in-sequence',
    about: cases.map(({ about }) => about).join('; '),
    producersNotice: 'either',
    duplicates: 'explained',
    harm: async (installation, random) => {
      const { failures } = installation.producer;
      for (const { name, harm, producersNotice } of cases) {
        const before = { ...failures };
        await harm(installation, random);
        for (const kind of ['unanswered', 'unavailable'] as const) {
          if (failures[kind] > before[kind] && kind !== producersNotice)
            noticed.push(`${name}: ${String(failures[kind] - before[kind])} requests ${kind}`);
        }
      }
    },
    check: async (installation) => [
      ...noticed,
      ...(
        await Promise.all(cases.map(async (one) => (await one.check?.(installation)) ?? []))
      ).flat(),
    ],
  };
}

const seed = Date.now() % 1_000_000;
let dir: string;
let template: Template;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'faults-'));
  template = await Template.make(join(dir, 'template'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

const all = inSequence(selection);

it(`loses nothing: ${all.about}`, async () => {
  const random = new Random(seed);
  const { broken, evidence } = await runCase(all, { dir, template, random, rounds: 1 });
  expect(broken, `with the seed ${String(seed)}: ${evidence.join('\n')}`).toEqual([]);
}, 240_000);

it('docs/reliability.md lists every case of the fault suite', async () => {
  const text = await readFile('docs/reliability.md', 'utf8');
  expect(cases.map(({ name }) => name).filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
});
