import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { GUARDED, losses, record, unguarded } from './guard.js';
import { ROOT } from '#tools/settings';
import { buildOf, compared } from './harness/other-version.js';
import { writePictures } from './harness/pictures.js';
import { type Result, resultOf, tableOf } from './harness/report.js';
import type { Row, Scenario } from './harness/scenario.js';
import { Site } from './harness/site.js';
import { turns } from './harness/turns.js';
import { profile, PROFILED } from './profile.js';
import { scenarios } from './scenarios/index.js';

const { values } = parseArgs({
  options: {
    scenario: { type: 'string', multiple: true },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '5' },
    json: { type: 'string' },
    against: { type: 'string' },
    from: { type: 'string', multiple: true, default: [] },
    pictures: { type: 'string' },
    profile: { type: 'boolean', default: false },
    guard: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
  },
});
const byDefault = values.guard
  ? GUARDED
  : scenarios.filter(({ isLong }) => !isLong).map(({ name }) => name);
const measuresNothing = values.profile || values.from.length > 0;
const chosen = measuresNothing ? [] : (values.scenario ?? byDefault);
const unknown = chosen.filter((name) => !scenarios.some((one) => one.name === name));
if (unknown.length > 0) {
  console.error(`There is no scenario ${unknown.join(', ')}; there are:`);
  for (const { name, about } of scenarios) console.error(`  ${name}: ${about}`);
  process.exit(2);
}

const effort = { rounds: Number(values.rounds), seconds: Number(values.seconds) };
const dir = await mkdtemp(join(tmpdir(), 'bench-'));
const results: Result[] = [];
for (const file of values.from) {
  const run = JSON.parse(await readFile(file, 'utf8')) as { results: Result[] };
  results.push(...run.results);
}
const failures: string[] = [];
const { against } = values;
const other = against === undefined ? undefined : buildOf(against, join(dir, 'other'));

/** Each scenario has its own stores, so that no earlier data remains to be written or cleaned up. */
async function onSite<Done>(
  name: string,
  work: (site: Site) => Promise<Done>,
  settings?: Record<string, string>,
  root = ROOT,
): Promise<Done> {
  const start = performance.now();
  const site = await Site.start(await mkdtemp(join(dir, `${name}-`)), root, settings);
  try {
    return await work(site);
  } finally {
    await site.end();
    console.error(`${name}: ${((performance.now() - start) / 1_000).toFixed()} s`);
  }
}

async function measure({ name, run, settings }: Scenario): Promise<Row[]> {
  const rowsOf = (root: string) =>
    turns.run(() => onSite(name, (site) => run(site, effort), settings, root));
  if (other === undefined) return rowsOf(ROOT);
  const [ours, theirs] = await Promise.all([rowsOf(ROOT), rowsOf(other)]);
  return compared(against!, ours, theirs);
}

for (const scenario of scenarios.filter((one) => chosen.includes(one.name))) {
  const { name } = scenario;
  try {
    results.push(...(await measure(scenario)).map((row) => resultOf(name, row)));
  } catch (error) {
    failures.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
if (values.profile) {
  console.log(await onSite('profile', (site) => profile(site, effort), PROFILED));
} else console.log(tableOf(results));

if (values.record) record(results);
if (values.pictures !== undefined) {
  failures.push(...(await writePictures(values.pictures, results)));
}
failures.push(...unguarded(results));
if (values.guard) failures.push(...losses(results));
for (const failure of failures) console.log(`FAILED ${failure}`);
if (values.json !== undefined) {
  const machine = {
    cpu: cpus()[0]?.model ?? '',
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 2 ** 30),
    node: process.version,
  };
  const report = { at: new Date().toISOString(), machine, effort, results, failures };
  await writeFile(values.json, `${JSON.stringify(report, undefined, 2)}\n`);
}
process.exit(failures.length > 0 ? 1 : 0);
