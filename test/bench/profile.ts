import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RedisStore } from '../support/stores.js';
import type { Database } from './harness/database.js';
import type { Effort } from './harness/scenario.js';
import type { Site } from './harness/site.js';

const ACCOUNTS = 20;
const TOP = 10;
const MIN_WIDTH = 60;

/** The line that the bundler writes above the code of a source. */
const IS_SOURCE = /^\/\/ (?:node_modules|libs|apps)\/\S+$/;
/** The lines of bundles by URL. */
const bundles = new Map<string, string[]>();

interface Profile {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[];
  samples: number[];
  timeDeltas: number[];
}

/** The settings of PostgreSQL that {@link profile} needs. */
export const PROFILED = { shared_preload_libraries: 'pg_stat_statements' };

/**
 * Profiles full load: the top ten of an API and a worker, by package and by function, and of PostgreSQL's statements
 * and Redis' commands.
 */
export async function profile(site: Site, { seconds }: Effort): Promise<string> {
  const database = await site.database('profile');
  const deployment = await site.deploy(database, {
    nodeOptions: (name) => [
      '--cpu-prof',
      `--cpu-prof-dir=${site.dir}`,
      `--cpu-prof-name=${name}.cpuprofile`,
    ],
  });
  const accounts = await deployment.accounts(ACCOUNTS);
  await deployment.saturate(accounts, { seconds });
  await deployment.quiet();
  await database.pool.query('CREATE EXTENSION pg_stat_statements');
  await database.pool.query('SELECT pg_stat_statements_reset()');
  await site.redis.command('CONFIG', 'RESETSTAT');
  const { events } = await deployment.saturate(accounts, { seconds });
  await deployment.quiet();
  const stores = [await statements(database.pool, events), await commands(site.redis, events)];
  await deployment.end();
  return [...['api-1', 'worker-1'].map((name) => tablesOf(site.dir, name)), ...stores].join('\n\n');
}

async function statements(pool: Database['pool'], events: number): Promise<string> {
  const { rows } = await pool.query<{ text: string; calls: string; ms: number }>(
    `SELECT left(regexp_replace(query, '\\s+', ' ', 'g'), 60) AS text, calls, total_exec_time AS ms
     FROM pg_stat_statements ORDER BY total_exec_time DESC LIMIT ${String(TOP)}`,
  );
  return storeTable(
    'statements of PostgreSQL',
    rows.map(({ text, calls, ms }) => [text, Number(calls) / events, (ms * 1_000) / events]),
  );
}

async function commands(redis: RedisStore, events: number): Promise<string> {
  const text = String(await redis.command('INFO', 'commandstats'));
  const rows = [...text.matchAll(/cmdstat_(\S+?):calls=(\d+),usec=(\d+)/g)]
    .map(([, name = '', calls, us]): StoreRow => [
      name,
      Number(calls) / events,
      Number(us) / events,
    ])
    .toSorted(([, , one], [, , other]) => other - one);
  return storeTable(
    'commands of Redis (a script counts what it calls as well)',
    rows.slice(0, TOP),
  );
}

/** Its name, its calls per event, and its time per event in µs. */
type StoreRow = [what: string, calls: number, us: number];

function storeTable(title: string, rows: readonly StoreRow[]): string {
  const line = (cells: readonly [string, string, string]) =>
    `| ${cells[0].padEnd(MIN_WIDTH)} | ${cells[1].padStart(15)} | ${cells[2].padStart(12)} |`;
  const shown = rows.map(([what, calls, us]) => line([what, calls.toFixed(3), us.toFixed(1)]));
  const heads = [
    line([title, 'calls for an event', 'µs for an event']),
    line(['-'.repeat(MIN_WIDTH), '--:', '--:']),
  ];
  return [...heads, ...shown].join('\n');
}

function tablesOf(dir: string, name: string): string {
  const text = readFileSync(join(dir, `${name}.cpuprofile`), 'utf8');
  const { nodes, samples, timeDeltas } = JSON.parse(text) as Profile;
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const [byPackage, byFunction] = [new Map<string, number>(), new Map<string, number>()];
  const packages = new Map(
    nodes.map(({ id, callFrame: { functionName, url, lineNumber } }) => [
      id,
      packageOf(functionName, url, lineNumber),
    ]),
  );
  let busy = 0;
  for (const [index, id] of samples.entries()) {
    const { functionName, url, lineNumber } = frames.get(id)!;
    const us = timeDeltas[index] ?? 0;
    if (functionName === '(idle)') continue;
    busy += us;
    add(byPackage, packages.get(id)!, us);
    const place = url && ` ${url.slice(url.lastIndexOf('/') + 1)}:${String(lineNumber + 1)}`;
    add(byFunction, (functionName || '(anonymous)') + place, us);
  }
  return [
    table(`${name}, packages`, byPackage, busy),
    table(`${name}, functions`, byFunction, busy),
  ].join('\n\n');
}

/** The part of the program that a function belongs to; other entries keep their own names. */
function packageOf(functionName: string, url: string, line: number): string {
  const source = sourceOf(url, line);
  const [, name] = /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(source) ?? [];
  if (name !== undefined) return name;
  const [, library] = /^((?:libs|apps)\/[^/]+)\//.exec(source) ?? [];
  return library ?? (url || functionName);
}

/** The path of a function's source, within the project; empty if it is none of ours. */
function sourceOf(url: string, line: number): string {
  const [, external] = /.*\/(node_modules\/.*)/.exec(url) ?? [];
  if (external !== undefined) return external;
  if (!url.includes('/dist/')) return '';
  const lines = bundles.get(url) ?? readFileSync(fileURLToPath(url), 'utf8').split('\n');
  bundles.set(url, lines);
  const above = lines.slice(0, line + 1).findLast((text) => IS_SOURCE.test(text));
  return above?.replace('// ', '') ?? '';
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
