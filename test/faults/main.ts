import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { cases } from './cases/index.js';
import type { FaultCase } from './harness/fault-case.js';
import { Template } from './harness/template.js';
import { type Outcome, outcomeOfNone } from './harness/outcome.js';
import { Random } from './harness/random.js';
import { runCase } from './harness/run-case.js';
import { tableOf } from './harness/table.js';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '1' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    case: { type: 'string', multiple: true, default: cases.map(({ name }) => name) },
    pgbouncer: { type: 'boolean', default: false },
    'redis-cluster': { type: 'boolean', default: false },
  },
});

const unknown = values.case.filter((name) => !cases.some((one) => one.name === name));
if (unknown.length > 0) {
  console.error(`Unknown case: ${unknown.join(', ')}. The cases are:`);
  for (const { name, about } of cases) console.error(`  ${name}: ${about}`);
  process.exit(2);
}

const topology = { pgbouncer: values.pgbouncer, redisCluster: values['redis-cluster'] };
const reasonAgainst = ({ leftOut }: FaultCase): string | undefined =>
  (topology.pgbouncer ? leftOut?.pgbouncer : undefined) ??
  (topology.redisCluster ? leftOut?.redisCluster : undefined);
const asked = cases.filter(({ name }) => values.case.includes(name));
const chosen = asked.filter((one) => reasonAgainst(one) === undefined);
for (const one of asked) {
  const reason = reasonAgainst(one);
  if (reason !== undefined) console.log(`${one.name} is skipped: ${reason}`);
}
console.log(`seed ${values.seed}, ${String(chosen.length)} cases, ${values.rounds} rounds of each`);
const dir = await mkdtemp(join(tmpdir(), 'faults-'));
const template = await Template.make(join(dir, 'template'));
const outcomes: Outcome[] = [];
for (const one of chosen) {
  // Each case has its own seed, so that it behaves the same alone and among others.
  const random = new Random(Number(values.seed) + cases.indexOf(one) * 7_919);
  const start = performance.now();
  const run = runCase(one, { dir, template, random, rounds: Number(values.rounds), topology });
  const outcome = await run.catch((error: unknown) => outcomeOfNone(one.name, error));
  outcomes.push(outcome);
  const seconds = ((performance.now() - start) / 1_000).toFixed();
  const { name, acknowledged, lost, duplicates, peakMb, broken } = outcome;
  const verdict = broken.length === 0 ? 'holds' : `BROKEN: ${broken.join('; ')}`;
  console.log(
    `${name}: ${String(acknowledged)} acknowledged, lost ${String(lost)}, ` +
      `duplicates ${String(duplicates)}, at most ${peakMb.toFixed()} MB, ${seconds} s: ${verdict}`,
  );
  for (const line of [...outcome.notes, ...outcome.evidence]) console.log(`  ${line}`);
}

console.log(`\n${tableOf(outcomes)}\n`);
const broken = outcomes.filter((outcome) => outcome.broken.length > 0);
for (const { name, broken: breaches } of broken) console.log(`${name}: ${breaches.join('; ')}`);
console.log(`lost ${String(outcomes.reduce((sum, { lost }) => sum + lost, 0))}`);
process.exit(broken.length === 0 ? 0 : 1);
