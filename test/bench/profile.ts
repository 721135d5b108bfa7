import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Effort } from './harness/scenario.js';
import type { Site } from './harness/site.js';

const ACCOUNTS = 20;
const TOP = 10;
const MIN_WIDTH = 60;

interface Profile {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[];
  samples: number[];
  timeDeltas: number[];
}

/** Where an API and a worker spend their time at full load: the top ten of each, by package and by function. */
export async function profile(site: Site, { seconds }: Effort): Promise<string> {
  const deployment = await site.deploy(await site.database('profile'), {
    nodeOptions: (name) => [
      '--cpu-prof',
      `--cpu-prof-dir=${site.dir}`,
      `--cpu-prof-name=${name}.cpuprofile`,
    ],
  });
  const accounts = await deployment.accounts(ACCOUNTS);
  await deployment.saturate(accounts, { seconds });
  await deployment.saturate(accounts, { seconds });
  await deployment.quiet();
  await deployment.end();
  return ['api-1', 'worker-1'].map((name) => tablesOf(site.dir, name)).join('\n\n');
}

function tablesOf(dir: string, name: string): string {
  const text = readFileSync(join(dir, `${name}.cpuprofile`), 'utf8');
  const { nodes, samples, timeDeltas } = JSON.parse(text) as Profile;
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const [byPackage, byFunction] = [new Map<string, number>(), new Map<string, number>()];
  let busy = 0;
  for (const [index, id] of samples.entries()) {
    const { functionName, url, lineNumber } = frames.get(id)!;
    const us = timeDeltas[index] ?? 0;
    if (functionName === '(idle)') continue;
    busy += us;
    add(byPackage, packageOf(functionName, url), us);
    const place = url && ` ${url.slice(url.lastIndexOf('/') + 1)}:${String(lineNumber + 1)}`;
    add(byFunction, (functionName || '(anonymous)') + place, us);
  }
  return [
    table(`${name}, packages`, byPackage, busy),
    table(`${name}, functions`, byFunction, busy),
  ].join('\n\n');
}

/** The part of the program that a function belongs to; what is no function is called by its own name. */
function packageOf(functionName: string, url: string): string {
  const [, name] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url) ?? [];
  if (name !== undefined) return name;
  const [, library] = /\/dist\/((?:libs|apps)\/[^/]+)\//.exec(url) ?? [];
  return library ?? (url || functionName);
}

function table(title: string, times: ReadonlyMap<string, number>, busy: number): string {
  const top = [...times].toSorted(([, one], [, other]) => other - one).slice(0, TOP);
  const rows = top.map(
    ([what, us]) => `| ${what.padEnd(MIN_WIDTH)} | ${((us / busy) * 100).toFixed(1).padStart(5)} |`,
  );
  return [
    `| ${title.padEnd(MIN_WIDTH)} |     % |`,
    `| ${'-'.repeat(MIN_WIDTH)} | ----: |`,
    ...rows,
  ].join('\n');
}

function add(times: Map<string, number>, key: string, us: number): void {
  times.set(key, (times.get(key) ?? 0) + us);
}
