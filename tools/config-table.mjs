// `npm run config:table`: writes the table in docs/configuration.md from the built code's schema. A test fails when the
// two differ.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { configTable } from './lib/config-table.mjs';
import { ROOT } from './lib/settings.mjs';

/** @type {typeof import('../libs/runtime/src/config/config.js')} */
const { configJsonSchema } = await import(join(ROOT, 'dist/libs/runtime/src/config/config.js'));

const file = join(ROOT, 'docs/configuration.md');
const marked = /(<!-- configuration -->\n)[^]*?(<!-- \/configuration -->)/;
const text = readFileSync(file, 'utf8');
if (!marked.test(text)) throw new Error('docs/configuration.md has no marks for the table');
writeFileSync(
  file,
  text.replace(
    marked,
    (_, /** @type {string} */ before, /** @type {string} */ after) =>
      `${before}\n${configTable(configJsonSchema())}\n\n${after}`,
  ),
);
