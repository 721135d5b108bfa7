import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '#tools/settings';

/** Settings of a role that log its statements with their plans. */
export const LOGGED = {
  'auto_explain.log_min_duration': '0',
  'auto_explain.log_analyze': 'on',
  'auto_explain.log_timing': 'off',
  'auto_explain.log_format': 'json',
  'auto_explain.log_parameter_max_length': '0',
  log_min_duration_statement: '0',
  log_parameter_max_length: '0',
};

/** How many rows a statement may read. */
const [READ_FOR_EACH_ANSWERED, READ_ANYWAY] = [20, 1_000];
/** The marker in the text of statements that bound what they read. */
const BOUNDED_LOOK = /LIMIT 1000[01]\b|AS "lookedAt"/g;
/** Each with a row of its subscription, event and attempt. */
const LOOKED_AT = 4 * 10_001;
/** Locks of a partition: its own and those of its indexes. */
const LOCKS: Record<string, number> = { events: 4, deliveries: 7, attempts: 2 };
const MOST_LOCKS = 200;

/** A step of a plan, as EXPLAIN (ANALYZE) reports it. */
interface Step {
  'Node Type': string;
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  'Subplans Removed'?: number;
  Plans?: Step[];
}

/** An execution of a statement. */
export interface Execution {
  text: string;
  ms: number;
  /** Rows of tables that it read. */
  read: number;
  /** Rows that it returned or wrote. */
  answered: number;
  /** Of partitions and their indexes. */
  locks: number;
}

/** The statements in a log of PostgreSQL. */
export interface Logged {
  executions: Execution[];
  /** Names of prepared statements, without their day. */
  names: Set<string>;
}

/** @param log text that PostgreSQL wrote with {@link LOGGED} */
export function readLog(log: string): Logged {
  const executions: Execution[] = [];
  const names = new Set<string>();
  for (const entry of log.split(/^(?=\d{4}-\d\d-\d\d )/m)) {
    const [, ms, plan] = /LOG: {2}duration: ([\d.]+) ms {2}plan:\n([^]*)/.exec(entry) ?? [];
    if (plan !== undefined) executions.push(executionOf(Number(ms), plan));
    const [, name] = /LOG: {2}duration: [\d.]+ ms {2}execute ([\w.-]+):/.exec(entry) ?? [];
    if (name !== undefined) names.add(withoutDay(name));
  }
  return { executions, names };
}

function executionOf(ms: number, plan: string): Execution {
  const { Plan: root, 'Query Text': text } = JSON.parse(plan) as {
    Plan: Step;
    'Query Text': string;
  };
  const steps = [...stepsOf(root)];
  const written = steps.filter((step) => step['Node Type'] === 'ModifyTable');
  return {
    ms,
    text: text
      .replaceAll(/'[0-9a-f-]{36}'/g, '…')
      .replaceAll(/\s+/g, ' ')
      .trim(),
    read: Math.round(steps.reduce((sum, step) => sum + readBy(step), 0)),
    answered: Math.round(
      written.reduce((sum, { Plans: [from] = [] }) => sum + rowsOf(from), rowsOf(root)),
    ),
    locks: locksOf(steps),
  };
}

function* stepsOf(step: Step): Generator<Step> {
  yield step;
  for (const inner of step.Plans ?? []) yield* stepsOf(inner);
}

function rowsOf(step: Step | undefined): number {
  return step ? step['Actual Rows'] * step['Actual Loops'] : 0;
}

function readBy(step: Step): number {
  const isScan = step['Node Type'].endsWith('Scan') && step['Relation Name'] !== undefined;
  if (!isScan || step['Relation Name']?.startsWith('pg_')) return 0;
  const removed =
    (step['Rows Removed by Filter'] ?? 0) + (step['Rows Removed by Index Recheck'] ?? 0);
  return rowsOf(step) + removed * step['Actual Loops'];
}

/** Partitions that are skipped only at execution are locked as well. */
function locksOf(steps: readonly Step[]): number {
  const partitions = new Set(steps.map((step) => step['Relation Name'] ?? ''));
  const known = [...partitions].map((name) => LOCKS[/^(\w+)_\d{8}$/.exec(name)?.[1] ?? ''] ?? 0);
  const removed = steps.map((step) => step['Subplans Removed'] ?? 0);
  return [...known, ...removed].reduce((sum, one) => sum + one, 0);
}

/** @returns a line for each statement that reads or locks more than its answer needs */
export function excesses(executions: readonly Execution[]): string[] {
  const worst = new Map<string, Execution>();
  for (const one of executions.filter(isExcessive)) {
    const known = worst.get(one.text);
    if (!known || known.read + known.locks < one.read + one.locks) worst.set(one.text, one);
  }
  return [...worst.values()].map(
    ({ text, ms, read, answered, locks }) =>
      `read ${String(read)} rows for ${String(answered)}, with ${String(locks)} locks, in ${ms.toFixed(1)} ms: ${text.slice(0, 400)}`,
  );
}

function isExcessive({ text, read, answered, locks }: Execution): boolean {
  const looks = [...text.matchAll(BOUNDED_LOOK)].length;
  const most = READ_FOR_EACH_ANSWERED * answered + READ_ANYWAY + looks * LOOKED_AT;
  return read > most || locks > MOST_LOCKS;
}

/** A prepared statement in the sources. */
interface PreparedStatement {
  name: string;
  /** Part of its text: in a transaction, TypeORM runs it without its name. */
  part: string;
}

const PREPARED = /\b(?:prepared|ofDay)\b[^(;]*\(\s*'([\w.-]+)',\s*(`[^`]*`|"[^"]*"|'[^']*')?/g;

export function preparedStatements(): PreparedStatement[] {
  const libs = join(ROOT, 'libs');
  const files = readdirSync(libs, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !/\.(int-)?spec\.ts$/.test(file),
  );
  return files.flatMap((file) =>
    [...readFileSync(join(libs, file), 'utf8').matchAll(PREPARED)].map(
      ([, name = '', quoted = '']) => ({ name, part: longestPart(quoted.slice(1, -1)) || name }),
    ),
  );
}

/** The constant part of a text, without placeholders. */
function longestPart(source: string): string {
  const parts = source.split(/\$\{[^}]*\}|@\w+|--.*/);
  return parts
    .map((part) => part.replaceAll(/\s+/g, ' ').trim())
    .reduce((longest, part) => (part.length > longest.length ? part : longest), '');
}

function withoutDay(name: string): string {
  return name.replace(/\.\d+$/, '');
}
