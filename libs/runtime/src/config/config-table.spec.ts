import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { configTables } from '#tools/config-table';
import { configJsonSchema } from './config.js';

const PAGE = new URL('../../../../docs/configuration.md', import.meta.url);
const TABLES = configTables(configJsonSchema());
const namesIn = (table: string) => table.match(/(?<=^\| `)[A-Z_]+/gm) ?? [];

describe('configTables', () => {
  it.each(['first', 'rarely'] as const)(
    'equal those in docs/configuration.md: %s (run `npm run config:table`)',
    (name) => {
      const marked = new RegExp(`<!-- ${name} -->\\n\\n([^]*?)\\n\\n<!-- /${name} -->`);
      expect(marked.exec(readFileSync(PAGE, 'utf8'))?.[1]).toBe(TABLES[name]);
    },
  );

  it('have ten settings first, and every other one once', () => {
    const [first, rarely] = [namesIn(TABLES.first), namesIn(TABLES.rarely)];
    expect(first).toHaveLength(10);
    const all = Object.keys(configJsonSchema().properties ?? {});
    expect([...first, ...rarely].sort()).toEqual(all.sort());
  });

  it('show the default, the values and the readers of a variable', () => {
    const rows = `${TABLES.first}\n${TABLES.rarely}`
      .split('\n')
      .map((row) => row.split('|').map((cell) => cell.trim()));
    const rowOf = (name: string) => rows.find((row) => row[1] === `\`${name}\``)?.slice(2, 5);
    expect(rowOf('DATABASE_URL')).toEqual(['required', '', 'all']);
    expect(rowOf('DATABASE_POOL_SIZE')).toEqual(['`10`', '2 to 500', 'api, worker']);
    expect(rowOf('DATABASE_PREPARED_STATEMENTS')).toEqual(['`true`', '`true`, `false`', 'all']);
    expect(rowOf('DELIVERY_RETRY_SCHEDULE')?.[0]).toBe('`5s,30s,5m,30m,2h,5h,10h,14h,20h,24h`');
    expect(rowOf('TRUSTED_PROXIES')).toEqual(['', '', 'api, worker']);
  });
});
