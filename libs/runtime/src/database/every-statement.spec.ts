import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import type { Statement } from './statement.js';

/**
 * docs/sql shows the final text of every statement, so that a reviewer sees what a change does to SQL. After a change,
 * run `npm run sql:generate` and commit the files. What TypeORM makes of its calls, and migrations, are not among them.
 */
const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const DAY = Date.UTC(2026, 0, 1) / 86_400_000;
const SPAN = { first: DAY, last: DAY + 1 };

/** Arguments of functions that take more than a day or a span of days. */
const EXAMPLES: Record<string, unknown[][]> = {
  areFew: [['cancelled', SPAN]],
  findPendingDays: [[[DAY, DAY + 1]]],
  findMissed: [
    [SPAN, { data: false }],
    [SPAN, { data: true }],
  ],
  searchEvents: [
    [DAY, { isOwned: true, text: 'erasure' }],
    [DAY, { isOwned: false, text: 'erasure' }],
    [DAY, { isOwned: true, text: 'request' }],
  ],
  countOf: [
    ['events', SPAN],
    ['deliveries', SPAN],
  ],
  listDeliveries: [
    [undefined, SPAN, undefined],
    [undefined, SPAN, 'account'],
    [undefined, SPAN, 'webhook'],
    ['pending', SPAN, 'webhook'],
    ['exhausted', SPAN, 'webhook'],
    [undefined, SPAN, 'account', { searches: true }],
    [undefined, SPAN, 'account', { notifications: true }],
  ],
  listEvents: [
    [SPAN, { isOwned: false, byIndex: false }],
    [SPAN, { isOwned: true, byIndex: false }],
    [SPAN, { isOwned: true, byIndex: true }],
    [SPAN, { isOwned: true, byIndex: false, searches: true }],
    [SPAN, { isOwned: true, byIndex: false, covered: true, missed: true }],
    [SPAN, { isOwned: true, byIndex: false, data: true }],
  ],
  readFeed: [
    [SPAN, { isOwned: false, searches: false }],
    [SPAN, { isOwned: true, searches: false }],
    [SPAN, { isOwned: true, searches: true }],
  ],
};

/** The functions that make all statements. */
const FACTORIES = ['statement', 'prepared', 'ofDay'];

const DECLARATION = /^(export )?(?:const|function|class) (\w+)(.*)/gm;

interface Declared {
  name: string;
  isExported: boolean;
  /** The line after the name, with the parameters of a function. */
  rest: string;
}

/** The top-level declarations of a file that call one of these functions. */
function callersOf(factories: readonly string[], source: string): Declared[] {
  const declared = [...source.matchAll(DECLARATION)];
  const calls = new RegExp(`(?<!function )\\b(?:${factories.join('|')})[<(]`, 'g');
  const callers = [...source.matchAll(calls)].map(({ index }) =>
    declared.findLast((declaration) => declaration.index <= index),
  );
  return [...new Set(callers)].map((caller) => {
    const [, exported, name = '', rest = ''] = caller ?? [];
    return { name, rest, isExported: exported !== undefined };
  });
}

/** The exports of a file that are statements, or make them. */
function statementsIn(source: string): Declared[] {
  const callers = callersOf(FACTORIES, source).filter(({ name }) => !FACTORIES.includes(name));
  const helpers = callers.filter(({ isExported }) => !isExported);
  const names = helpers.map(({ name }) => name);
  const hidden = helpers.filter(({ rest }) => rest.startsWith(' = '));
  expect(hidden, 'a statement is exported, so that docs/sql can show it').toEqual([]);
  const others = names.length > 0 ? callersOf(names, source) : [];
  return [...callers.filter(({ isExported }) => isExported), ...others];
}

function argumentsOf({ name, rest }: Declared): unknown[][] {
  const [, first] = /^\(\w+: (Day|Span)\) \{/.exec(rest) ?? [];
  if (first === undefined && rest.startsWith(' = ofDay')) return [[DAY]];
  return EXAMPLES[name] ?? (first === undefined ? [] : [[first === 'Day' ? DAY : SPAN]]);
}

function shown(name: string, statement: Statement): string {
  const prepared = statement.name === undefined ? '' : `, prepared as ${statement.name}`;
  return `-- ${name}${prepared}\n${statement.text.trim()};\n`;
}

/** The texts of all statements of a file, by the name of their export. */
async function textsOf(file: string): Promise<string[]> {
  const declared = statementsIn(readFileSync(file, 'utf8'));
  if (declared.length === 0) return [];
  const module = (await import(file)) as Record<string, unknown>;
  return declared.flatMap((one) => {
    const { name } = one;
    const exported = module[name] as Statement | ((...of: unknown[]) => Statement) | undefined;
    expect(exported, `${file} exports its statement ${name}`).toBeDefined();
    if (typeof exported !== 'function') return [shown(name, exported!)];
    const all = argumentsOf(one);
    expect(all.length, `EXAMPLES has arguments of ${name} in ${file}`).toBeGreaterThan(0);
    return all.map((of) => {
      const given = EXAMPLES[name] ? JSON.stringify(of).slice(1, -1) : '…';
      return shown(`${name}(${given})`, exported(...of));
    });
  });
}

it.each(['runtime', 'identity', 'applications', 'webhooks'])(
  'docs/sql shows every statement of %s',
  async (library) => {
    const folder = `${ROOT}libs/${library}/src/`;
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
      (file) => file.endsWith('.ts') && !/(spec|\.fake|\.contract)\.ts$/.test(file),
    );
    const texts: string[] = [];
    for (const file of files) texts.push(...(await textsOf(`${folder}${file}`)));
    texts.sort((one, other) => (one < other ? -1 : 1));
    await expect(texts.join('\n')).toMatchFileSnapshot(`${ROOT}docs/sql/${library}.sql`);
  },
);
