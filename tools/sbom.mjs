// `npm run -s sbom`: lists all parts of an installation, as CycloneDX in JSON on standard output.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './lib/settings.mjs';

/**
 * @typedef {{ name: string, version: string, 'bom-ref': string, properties: { name: string }[] }}
 *   Component
 * @typedef {{ components: Component[], metadata: { component: Component },
 *   dependencies: { ref: string, dependsOn: string[] }[] }} Bom
 * @typedef {{ name: string, packages: Record<string, { version: string, dev?: boolean, link?: boolean }> }} Lock
 */

/** @type {Lock} */
const { name, packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
const inProduction = new Set(
  Object.entries(packages)
    .filter(([path, { dev, link }]) => path.startsWith('node_modules/') && !dev && !link)
    .map(([path, { version }]) => `${path.split('node_modules/').at(-1)}@${version}`),
);

// From the lockfile, which says what is shipped rather than installed here. Not with npm's `--omit dev`, which omits
// packages needed for both (npm/cli#7909): half of them.
const arguments_ = ['--package-lock-only', '--sbom-format=cyclonedx', '--sbom-type=application'];
const text = execFileSync('npm', ['sbom', ...arguments_], {
  cwd: ROOT,
  stdio: ['ignore', 'pipe', 'inherit'],
  maxBuffer: 2 ** 26,
});
/** @type {Bom} */
const bom = JSON.parse(text.toString());

bom.components = bom.components
  .filter((component) => inProduction.has(`${component.name}@${component.version}`))
  // Of a package that occurs twice npm keeps one, which may be a development tool's.
  .map((component) => ({
    ...component,
    properties: component.properties.filter((one) => one.name !== 'cdx:npm:package:development'),
  }));
// npm uses the folder's name.
bom.metadata.component.name = name;
const kept = new Set([bom.metadata.component, ...bom.components].map((one) => one['bom-ref']));
bom.dependencies = bom.dependencies
  .filter(({ ref }) => kept.has(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => kept.has(other)) }));

console.log(JSON.stringify(bom, null, 2));
