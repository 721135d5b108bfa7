import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RedisStore } from '../support/stores.js';
import type { Database } from './harness/database.js';
import type { Effort } from './harness/scenario.js';
import type { Site } from './harness/site.js';

const ACCOUNTS = 20;
const TOP = 10;
/** There are several kinds of records for each table and index. */
const MOST_WRITES = 2 * TOP;
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
 * Profiles full load: the top ten of an API and a worker, by package and by function, of PostgreSQL's statements and
 * Redis' commands, and of what is written to the log of PostgreSQL (WAL).
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
  const from = await walPosition(database.pool);
  const { events } = await deployment.saturate(accounts, { seconds });
  await deployment.quiet();
  const stores = [
    await statements(database.pool, events),
    await commands(site.redis, events),
    await writes(database.pool, from, events),
  ];
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

async function walPosition(pool: Database['pool']): Promise<string> {
  const { rows } = await pool.query<{ at: string }>('SELECT pg_current_wal_insert_lsn() AS at');
  return rows[0]!.at;
}

/** Records of the WAL by table or index and kind. One that changes two pages counts for both. */
async function writes(pool: Database['pool'], from: string, events: number): Promise<string> {
  await pool.query('CREATE EXTENSION pg_walinspect');
  const { rows } = await pool.query<{ text: string; records: string; bytes: string }>(
    `SELECT regexp_replace(c.relname, '_[0-9]{8}', '') || ' ' || lower(b.record_type) AS text,
       count(*) AS records, sum(b.record_length) AS bytes
     FROM pg_get_wal_block_info($1, $2, false) b JOIN pg_class c ON c.relfilenode = b.relfilenode
     GROUP BY 1 ORDER BY 3 DESC LIMIT ${String(MOST_WRITES)}`,
    [from, await walPosition(pool)],
  );
  return storeTable(
    'writes of PostgreSQL',
    rows.map(({ text, records, bytes }) => [
      text,
      Number(records) / events,
      Number(bytes) / events,
    ]),
    ['records', 'bytes'],
  );
}

/** Its name, its calls or records per event, and its time in µs or its bytes per event. */
type StoreRow = [what: string, count: number, cost: number];

function storeTable(
  title: string,
  rows: readonly StoreRow[],
  [count, cost]: [count: string, cost: string] = ['calls', 'µs'],
): string {
  const line = (cells: readonly [string, string, string]) =>
    `| ${cells[0].padEnd(MIN_WIDTH)} | ${cells[1].padStart(20)} | ${cells[2].padStart(18)} |`;
  const shown = rows.map((row) => line([row[0], row[1].toFixed(3), row[2].toFixed(1)]));
  const heads = [
    line([title, `${count} for an event`, `${cost} for an event`]),
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
