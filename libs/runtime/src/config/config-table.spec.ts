import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { configTable } from '#tools/config-table';
import { configJsonSchema } from './config.js';

const PAGE = new URL('../../../../docs/configuration.md', import.meta.url);
const TABLE = configTable(configJsonSchema());
const MARKED = /<!-- configuration -->\n\n([^]*?)\n\n<!-- \/configuration -->/;

describe('configTable', () => {
  it('equals the table in docs/configuration.md (run `npm run config:table`)', () => {
    expect(MARKED.exec(readFileSync(PAGE, 'utf8'))?.[1]).toBe(TABLE);
  });

  it('shows the default, the values and the readers of a variable', () => {
    const rows = TABLE.split('\n').map((row) => row.split('|').map((cell) => cell.trim()));
    const rowOf = (name: string) => rows.find((row) => row[1] === `\`${name}\``)?.slice(2, 5);
    expect(rowOf('DATABASE_URL')).toEqual(['required', '', 'all']);
    expect(rowOf('DATABASE_POOL_SIZE')).toEqual(['`10`', '2 to 500', 'api, worker']);
    expect(rowOf('DATABASE_PREPARED_STATEMENTS')).toEqual(['`true`', '`true`, `false`', 'all']);
    expect(rowOf('DELIVERY_RETRY_SCHEDULE')?.[0]).toBe('`5s,30s,5m,30m,2h,5h,10h,14h,20h,24h`');
    expect(rowOf('TRUSTED_PROXIES')).toEqual(['', '', 'api, worker']);
  });
});
