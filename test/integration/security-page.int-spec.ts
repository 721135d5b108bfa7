import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PAGES = `${ROOT}docs/security/defences/`;

/** The rows of the threat model: attack, defence, and the file and the title of the test. */
const rows = readdirSync(PAGES)
  .flatMap((page) => readFileSync(PAGES + page, 'utf8').split(/\n\n+/))
  .filter((table) => /^\| attack /.test(table))
  .flatMap((table) => table.split('\n'))
  .filter((line) => line.startsWith('|') && !/^\|(?: attack |[ -]*-[ -|]*$)/.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()));

describe('docs/security/defences', () => {
  it('has a threat model of complete rows', () => {
    expect(rows.length).toBeGreaterThan(30);
    for (const row of rows) {
      expect(row).toEqual([
        '',
        expect.stringMatching(/\w/),
        expect.stringMatching(/\w/),
        row[3],
        '',
      ]);
    }
  });

  it.each(rows.map(([, attack, , test = '']) => [attack, test] as const))(
    'names an existing test against an attacker who %s',
    (_attack, test) => {
      const [, file = '', title = ''] = /^`(\S+spec\.ts)` › (.+)$/.exec(test) ?? [];
      expect(existsSync(ROOT + file) && file, test).toMatch(/./);
      const code = readFileSync(ROOT + file, 'utf8');
      const calls = ["'", '"', '`'].map((quote) => `(${quote}${title}${quote},`);
      const isThere = calls.some((call) => code.replaceAll(/\(\s+/g, '(').includes(call));
      expect(isThere, `${file} has no test "${title}"`).toBe(true);
    },
  );
});
