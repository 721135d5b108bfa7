// `npm run client:pack`: makes the typed client a package that other projects install, `dist/switchhook-client-VERSION.tgz`.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { prepare } from './lib/prepare.mjs';
import { ROOT } from './lib/settings.mjs';

const DIST = join(ROOT, 'dist');
const PACKAGE = join(DIST, 'client');

/** @param {string} command @param {string[]} args */
function run(command, args) {
  execFileSync(command, args, { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] });
}

await prepare({ withChecks: true, withBuild: false });
rmSync(PACKAGE, { recursive: true, force: true });
mkdirSync(PACKAGE, { recursive: true });
run(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tools/client-package']);

/** @type {{ version: string, license: string, engines: object, dependencies: Record<string, string> }} */
const { version, license, engines, dependencies } = JSON.parse(
  readFileSync(join(ROOT, 'package.json'), 'utf8'),
);
const described = {
  name: 'switchhook-client',
  version,
  description: 'The typed client of the REST interface of Switchhook',
  ...{ license, engines },
  type: 'module',
  exports: { types: './index.d.ts', default: './index.js' },
  dependencies: { 'openapi-fetch': dependencies['openapi-fetch'] },
};
writeFileSync(join(PACKAGE, 'package.json'), `${JSON.stringify(described, undefined, 2)}\n`);
run('npm', ['pack', '--silent', '--pack-destination', DIST, PACKAGE]);
console.log(`wrote dist/switchhook-client-${version}.tgz`);
