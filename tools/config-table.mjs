// `npm run config:table`: writes the tables in docs/configuration.md from the built code's schema. A test fails when the
// two differ.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { configTables } from './lib/config-table.mjs';
import { ROOT } from './lib/settings.mjs';

/** @type {typeof import('../libs/runtime/src/config/config.js')} */
const { configJsonSchema } = await import(join(ROOT, 'dist/libs/runtime/src/config/config.js'));

const file = join(ROOT, 'docs/configuration.md');
let text = readFileSync(file, 'utf8');
for (const [name, table] of Object.entries(configTables(configJsonSchema()))) {
  const marked = new RegExp(`(<!-- ${name} -->\\n)[^]*?(<!-- /${name} -->)`);
  if (!marked.test(text)) throw new Error(`docs/configuration.md has no marks for ${name}`);
  text = text.replace(
    marked,
    (_, /** @type {string} */ before, /** @type {string} */ after) =>
      `${before}\n${table}\n\n${after}`,
  );
}
writeFileSync(file, text);
