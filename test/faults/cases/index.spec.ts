import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { cases } from './index.js';

it('docs/reliability/cases.md lists every case', async () => {
  const text = await readFile('docs/reliability/cases.md', 'utf8');
  expect(cases.map(({ name }) => name).filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
});
