import { readFileSync } from 'node:fs';

const PAGE = new URL('../../docs/configuration.md', import.meta.url);
const ROW = /^\| `([A-Z_]+)` +\| `?([^|`]*?)`? +\|/gm;

/** The variables in docs/configuration.md with their defaults; empty for none. */
export function documentedVariables(): ReadonlyMap<string, string> {
  const rows = readFileSync(PAGE, 'utf8').matchAll(ROW);
  return new Map(Array.from(rows, ([, name = '', value = '']) => [name, value]));
}
