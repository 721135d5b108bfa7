import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url));

/** File contents by path. */
type Files = Record<string, string>;

/** The rules that each file breaks, by path; files that a tool did not check are missing. */
type Verdicts = Map<string, string[]>;

let directory: string;

beforeAll(async () => {
  // The tools report real paths, and the temporary directory of macOS is a symbolic link.
  directory = await realpath(await mkdtemp(join(tmpdir(), 'switchhook-rules-')));
});
afterAll(() => rm(directory, { recursive: true }));

/** Writes a tree with our own configuration of Node.js, TypeScript and the tools. */
async function writeTree(name: string, files: Files): Promise<string> {
  const root = join(directory, name);
  for (const ours of ['package.json', 'tsconfig.json', 'eslint.config.mjs', 'tools']) {
    await cp(join(REPOSITORY, ours), join(root, ours), { recursive: true });
  }
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  return root;
}

/** The JSON that one of our tools prints for a tree, whether or not it finds anything. */
function output(tool: string, root: string, args: readonly string[]): Promise<unknown> {
  const program = join(REPOSITORY, 'node_modules/.bin', tool);
  return new Promise((resolve, reject) => {
    execFile(program, args, { cwd: root, maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      try {
        resolve(JSON.parse(stdout));
      } catch {
        reject(new Error(`${tool} has no result: ${stderr}${stdout}`, { cause: error }));
      }
    });
  });
}

describe('the layers', () => {
  /** Every allowed import: no rule may reject one. */
  const allowed: Files = {
    'libs/kernel/src/error.ts': `export const error = 1;`,
    'libs/kernel/src/index.ts': `export { error } from './error.js';`,
    'libs/runtime/src/index.ts': `export { error as refusal } from '#libs/kernel';`,
    'libs/outbound/src/index.ts': `import '#libs/runtime'; export { error as refused } from '#libs/kernel';`,
    'libs/http/src/index.ts': `import '#libs/runtime'; export { error as problem } from '#libs/kernel';`,
    'node_modules/pg/index.js': '',
    'libs/client/src/index.ts': `export { call } from './call.js';`,
    'libs/client/src/call.ts': `export const call = 1;`,
    'apps/cli/src/main.ts': `import '#libs/client';`,
    'apps/console/src/app/main.tsx': `import './page.js';`,
    'apps/console/src/app/page.tsx': `import '#libs/client';`,
    'test/e2e/client.e2e-spec.ts': `import '#libs/client';`,
    ...context('identity', []),
    ...context('applications', ['identity']),
    ...context('webhooks', ['applications', 'identity']),
    'libs/webhooks/src/subscriptions/domain/kind.ts': `export const kind = 1;`,
    'libs/webhooks/src/deliveries/domain/delivery.ts': `import '../../subscriptions/domain/kind.js';`,
    'libs/webhooks/src/deliveries/infrastructure/store.ts': `import '../domain/delivery.js';`,
    'libs/webhooks/src/events/domain/event.ts': `import '../../deliveries/domain/delivery.js'; import '../../subscriptions/domain/kind.js';`,
    'apps/api/src/main.ts': `import './api.module.js';`,
    'apps/api/src/api.module.ts': ['identity', 'applications', 'webhooks']
      .map((name) => `import '#libs/${name}'; import '#libs/${name}/http';`)
      .concat(`import '#libs/http'; import '#libs/runtime'; import '#libs/kernel';`)
      .join('\n'),
    'apps/worker/src/main.ts': `import '#libs/webhooks'; import '#libs/http';`,
    'apps/cli/src/context-schemas.ts': `export const contextSchemas = 1;`,
    'test/support/rows.ts': `import '#libs/webhooks';`,
    'test/support/database.ts': `import '../../apps/cli/src/context-schemas.js'; import '#libs/webhooks/http';`,
    'libs/webhooks/src/infrastructure/rows.int-spec.ts': `import '../../../../test/support/rows.js'; import './rows.js';`,
    'test/integration/alone.int-spec.ts': `export {};`,
    'libs/kernel/src/error.fake.ts': `import './error.js';`,
    'libs/webhooks/src/domain/rule.fake.ts': `import '../../../kernel/src/error.fake.js';`,
    'libs/webhooks/src/domain/rule.spec.ts': `import './rule.fake.js';`,
  };

  /** The files of a context that depends on others. */
  function context(name: string, others: readonly string[]): Files {
    const importsOf = (paths: readonly string[]): string =>
      paths.map((path) => `import '#libs/${path}';`).join('\n');
    const below = importsOf(['kernel', ...others.map((other) => `${other}/domain`)]);
    const imports = importsOf(['kernel', 'runtime', 'outbound', ...others]);
    const httpImports = importsOf(['http', ...others.map((other) => `${other}/http`)]);
    return Object.fromEntries(
      Object.entries({
        'domain/rule.ts': `${below} export const rule = 1;`,
        'domain/index.ts': `export * from './rule.js';`,
        'infrastructure/rows.ts': `${imports} import '../domain/rule.js';`,
        'infrastructure/rows.module.ts': `${imports} import './rows.js';`,
        'http/rule.controller.ts': `${imports} ${httpImports} import '../domain/rule.js';`,
        'http/rule-http.module.ts': `import './rule.controller.js'; import '../infrastructure/rows.module.js';`,
        'http/index.ts': `export * from './rule-http.module.js';`,
        'index.ts': `export * from './domain/index.js'; export * from './infrastructure/rows.module.js';`,
      }).map(([path, text]) => [`libs/${name}/src/${path}`, text]),
    );
  }

  const rows: [rule: string, breach: string, planted: Files][] = [
    [
      'no-cycles',
      'two files that import each other',
      {
        'libs/webhooks/src/domain/hen.ts': `import './egg.js';`,
        'libs/webhooks/src/domain/egg.ts': `import './hen.js';`,
      },
    ],
    [
      'no-cycles',
      'types that import each other',
      {
        'libs/identity/src/http/hen.ts': `import type { Egg } from './egg.js'; export type Hen = Egg;`,
        'libs/identity/src/http/egg.ts': `import type { Hen } from './hen.js'; export type Egg = Hen;`,
      },
    ],
    [
      'no-orphans',
      'a file that imports nothing and that nothing imports',
      { 'libs/webhooks/src/domain/forgotten.ts': `export {};` },
    ],
    [
      'domain-imports-no-layer',
      'the domain imports its infrastructure',
      { 'libs/webhooks/src/domain/reads.ts': `import '../infrastructure/rows.js';` },
    ],
    [
      'domain-imports-no-layer',
      'the domain imports a type of its infrastructure',
      {
        'libs/webhooks/src/domain/types.ts': `export type Rows = typeof import('../infrastructure/rows.js');`,
      },
    ],
    [
      'domain-imports-no-layer',
      'a nested domain imports its infrastructure',
      { 'libs/webhooks/src/deliveries/domain/reads.ts': `import '../infrastructure/store.js';` },
    ],
    [
      'domain-imports-no-layer',
      'the domain imports its http',
      { 'libs/identity/src/domain/answers.ts': `import '../http/rule.controller.js';` },
    ],
    [
      'domain-knows-the-kernel-and-domains-alone',
      'the domain imports the configuration',
      { 'libs/webhooks/src/domain/settings.ts': `import '#libs/runtime';` },
    ],
    [
      'domain-knows-the-kernel-and-domains-alone',
      'the domain imports a type of the HTTP edge',
      { 'libs/identity/src/domain/problem.ts': `export type Edge = typeof import('#libs/http');` },
    ],
    [
      'domain-knows-the-kernel-and-domains-alone',
      'the domain imports the HTTP client',
      { 'libs/applications/src/domain/calls.ts': `import '#libs/outbound';` },
    ],
    [
      'domain-knows-the-kernel-and-domains-alone',
      'the domain imports the modules of a context below',
      { 'libs/webhooks/src/domain/users.ts': `import '#libs/identity';` },
    ],
    [
      'domain-knows-the-kernel-and-domains-alone',
      'the domain bypasses the layers through a file outside them',
      {
        'libs/webhooks/src/domain/round.ts': `import '../helper.js';`,
        'libs/webhooks/src/helper.ts': `import '#libs/runtime';`,
      },
    ],
    [
      'domain-knows-the-kernel-and-domains-alone',
      'the domain imports the domain of a library that is no context',
      {
        'libs/identity/src/domain/calls.ts': `import '#libs/outbound/domain';`,
        'libs/outbound/src/domain/index.ts': `export const calls = 1;`,
      },
    ],
    [
      'domain-needs-no-store-and-no-framework',
      'the domain imports a driver, and a file that does',
      {
        'libs/applications/src/domain/rows.ts': `import './driver.js';`,
        'libs/applications/src/domain/driver.ts': `import 'pg';`,
      },
    ],
    [
      'http-imports-no-infrastructure',
      'a controller imports a repository',
      { 'libs/webhooks/src/http/rows.controller.ts': `import '../infrastructure/rows.js';` },
    ],
    [
      'infrastructure-imports-no-http',
      'a repository imports a view',
      { 'libs/webhooks/src/infrastructure/views.ts': `import '../http/rule.controller.js';` },
    ],
    [
      'contexts-through-their-index',
      'a file behind the index of another context',
      {
        'libs/webhooks/src/domain/reaches.ts': `import '../../../applications/src/domain/rule.js';`,
      },
    ],
    [
      'contexts-through-their-index',
      'a dynamic import of a file behind the index of the kernel',
      {
        'libs/webhooks/src/domain/later.ts': `export const later = import('../../../kernel/src/error.js');`,
      },
    ],
    [
      'fakes-and-contracts-for-specs-alone',
      'a context imports a fake',
      { 'libs/webhooks/src/infrastructure/fake.ts': `import '../domain/rule.fake.js';` },
    ],
    [
      'apps-through-the-index',
      'a process imports a file behind the index',
      { 'apps/api/src/reaches.ts': `import '../../../libs/webhooks/src/domain/rule.js';` },
    ],
    [
      'http-of-a-context-only-in-the-api',
      'the worker imports controllers',
      { 'apps/worker/src/controllers.ts': `import '#libs/webhooks/http';` },
    ],
    [
      'http-of-a-context-only-in-the-api',
      'a new process imports controllers of a new context',
      {
        'apps/sweeper/src/controllers.ts': `import '#libs/billing/http';`,
        'libs/billing/src/http/index.ts': `export {};`,
      },
    ],
    [
      'http-of-another-context-only-from-http',
      'a module outside http imports the controllers of another context',
      { 'libs/webhooks/src/webhooks.module.ts': `import '#libs/applications/http';` },
    ],
    [
      'what-kernel-may-use',
      'the kernel imports a context',
      { 'libs/kernel/src/accounts.ts': `import '#libs/identity';` },
    ],
    [
      'what-kernel-may-use',
      'the kernel imports a new context',
      {
        'libs/kernel/src/invoices.ts': `import '#libs/invoices';`,
        'libs/invoices/src/index.ts': `export {};`,
      },
    ],
    [
      'what-kernel-may-use',
      'the kernel imports the HTTP edge',
      { 'libs/kernel/src/problem.ts': `import '#libs/http';` },
    ],
    [
      'what-runtime-may-use',
      'the runtime imports the HTTP edge',
      { 'libs/runtime/src/routes.ts': `import '#libs/http';` },
    ],
    [
      'what-outbound-may-use',
      'the HTTP client imports a context',
      { 'libs/outbound/src/targets.ts': `import '#libs/webhooks';` },
    ],
    [
      'what-http-may-use',
      'the HTTP edge imports a context',
      { 'libs/http/src/users.ts': `import '#libs/identity';` },
    ],
    [
      'what-identity-may-use',
      'identity imports applications',
      { 'libs/identity/src/infrastructure/applications.ts': `import '#libs/applications';` },
    ],
    [
      'what-identity-may-use',
      'the guards of identity import controllers of webhooks',
      { 'libs/identity/src/http/webhooks.ts': `import '#libs/webhooks/http';` },
    ],
    [
      'what-applications-may-use',
      'applications imports webhooks',
      { 'libs/applications/src/infrastructure/webhooks.ts': `import '#libs/webhooks';` },
    ],
    [
      'what-event-kinds-may-use',
      'an event kind imports subscriptions',
      {
        'libs/webhooks/src/event-kinds/domain/source.ts': `import '../../subscriptions/domain/kind.js';`,
      },
    ],
    [
      'what-partitions-may-use',
      'partitions import deliveries',
      { 'libs/webhooks/src/partitions/source.ts': `import '../deliveries/domain/delivery.js';` },
    ],
    [
      'what-activity-may-use',
      'activity imports subscriptions',
      {
        'libs/webhooks/src/activity/domain/source.ts': `import '../../subscriptions/domain/kind.js';`,
      },
    ],
    [
      'what-queue-may-use',
      'the queue imports deliveries',
      {
        'libs/webhooks/src/queue/domain/source.ts': `import '../../deliveries/domain/delivery.js';`,
      },
    ],
    [
      'what-subscriptions-may-use',
      'subscriptions import deliveries',
      {
        'libs/webhooks/src/subscriptions/domain/log.ts': `import '../../deliveries/domain/delivery.js';`,
      },
    ],
    [
      'what-deliveries-may-use',
      'deliveries import events',
      { 'libs/webhooks/src/deliveries/domain/source.ts': `import '../../events/domain/event.js';` },
    ],
    [
      'what-statistics-may-use',
      'statistics import events',
      { 'libs/webhooks/src/statistics/domain/source.ts': `import '../../events/domain/event.js';` },
    ],
    [
      'what-sending-may-use',
      'the worker imports events',
      { 'libs/webhooks/src/sending/domain/source.ts': `import '../../events/domain/event.js';` },
    ],
    [
      'what-replays-may-use',
      'replays import events',
      { 'libs/webhooks/src/replays/domain/source.ts': `import '../../events/domain/event.js';` },
    ],
    [
      'what-recoveries-may-use',
      'recoveries import events',
      { 'libs/webhooks/src/recoveries/domain/source.ts': `import '../../events/domain/event.js';` },
    ],
    [
      'what-erasures-may-use',
      'erasures import events',
      { 'libs/webhooks/src/erasures/domain/source.ts': `import '../../events/domain/event.js';` },
    ],
    [
      'what-closings-may-use',
      'closings import events',
      { 'libs/webhooks/src/closings/source.ts': `import '../events/domain/event.js';` },
    ],
    [
      'what-events-may-use',
      'events import the index of their own context',
      { 'libs/webhooks/src/events/infrastructure/all.ts': `import '../../index.js';` },
    ],
    [
      'what-stream-may-use',
      'the stream imports the index of its own context',
      { 'libs/webhooks/src/stream/infrastructure/all.ts': `import '../../index.js';` },
    ],
    [
      'what-retention-may-use',
      'retention imports the index of its own context',
      { 'libs/webhooks/src/retention/all.ts': `import '../index.js';` },
    ],
    [
      'what-overview-may-use',
      'the overview imports the index of its own context',
      { 'libs/webhooks/src/overview/infrastructure/all.ts': `import '../../index.js';` },
    ],
    [
      'what-schema-may-use',
      'the schema imports the index of its own context',
      { 'libs/webhooks/src/schema/all.ts': `import '../index.js';` },
    ],
    [
      'what-client-may-use',
      'the client imports the kernel',
      { 'libs/client/src/errors.ts': `import '#libs/kernel';` },
    ],
    [
      'what-client-may-use',
      'the client imports a type of a context',
      { 'libs/client/src/types.ts': `export type Rule = typeof import('#libs/webhooks');` },
    ],
    [
      'client-for-programs-that-call-the-api-alone',
      'the worker imports the client',
      { 'apps/worker/src/calls.ts': `import '#libs/client';` },
    ],
    [
      'what-the-console-may-use',
      'the console imports a context',
      { 'apps/console/src/app/rule.tsx': `import '#libs/webhooks';` },
    ],
    [
      'what-the-console-may-use',
      'the console imports a module of Node.js',
      { 'apps/console/src/app/files.ts': `import 'node:fs';` },
    ],
    [
      'apps-know-no-app',
      'the API imports the console',
      { 'apps/api/src/console.ts': `import '../../console/src/app/page.js';` },
    ],
    [
      'what-webhooks-may-use',
      'webhooks imports the client',
      { 'libs/webhooks/src/infrastructure/calls.ts': `import '#libs/client';` },
    ],
    [
      'what-webhooks-may-use',
      'webhooks imports a new context',
      {
        'libs/webhooks/src/infrastructure/prices.ts': `import '#libs/prices';`,
        'libs/prices/src/index.ts': `export {};`,
      },
    ],
    [
      'no-library-without-its-place',
      'a new context imports the kernel without a rule that allows it',
      { 'libs/payments/src/index.ts': `import '#libs/kernel';` },
    ],
    [
      'libs-know-no-app',
      'a context imports a process',
      { 'libs/webhooks/src/infrastructure/api.ts': `import '../../../../apps/api/src/main.js';` },
    ],
    [
      'libs-know-no-app',
      'a context imports test support',
      { 'libs/webhooks/src/domain/tests.ts': `import '../../../../test/support/rows.js';` },
    ],
    [
      'doors-of-rooms-of-webhooks',
      "a room imports another room's infrastructure",
      { 'libs/webhooks/src/stream/rows.ts': `import '../deliveries/infrastructure/store.js';` },
    ],
    [
      'specs-of-libs-know-test-support-alone',
      'a spec of a context imports a process',
      {
        'libs/webhooks/src/domain/api.spec.ts': `import '../../../../apps/api/src/api.module.js';`,
      },
    ],
    [
      'specs-of-libs-know-test-support-alone',
      'a spec of a context imports an end-to-end test',
      {
        'libs/webhooks/src/domain/e2e.spec.ts': `import '../../../../test/e2e/client.e2e-spec.js';`,
      },
    ],
    [
      'tests-through-the-index',
      'a test imports what is inside a context',
      {
        'test/integration/rows.int-spec.ts': `import '../../libs/webhooks/src/infrastructure/rows.js';`,
      },
    ],
    [
      'tests-through-the-index',
      'test support imports a type from inside a context',
      {
        'test/support/rule.ts': `export type Rule = typeof import('../../libs/webhooks/src/domain/rule.js');`,
      },
    ],
    [
      'tests-through-the-index',
      'a test imports what is inside a process',
      { 'test/e2e/cli.e2e-spec.ts': `import '../../apps/cli/src/main.js';` },
    ],
    [
      'apps-know-no-app',
      'the worker imports the api',
      { 'apps/worker/src/api.ts': `import '../../api/src/main.js';` },
    ],
    [
      'apps-know-no-app',
      'the worker imports what only tests use',
      { 'apps/worker/src/tests.ts': `import '../../../test/support/rows.js';` },
    ],
  ];

  const verdicts: Verdicts = new Map();
  let configured: string[];
  let unresolved: unknown[];

  /** The rules that some files break together; each of them must have been checked. */
  function brokenBy(files: Files): string[] {
    return [...new Set(Object.keys(files).flatMap((path) => verdicts.get(path) ?? 'not seen'))];
  }

  beforeAll(async () => {
    const planted = Object.assign({}, ...rows.map(([, , files]) => files)) as Files;
    const root = await writeTree('layers', { ...allowed, ...planted });
    const args = ['--config', 'tools/dependency-cruiser.cjs', '-T', 'json', 'apps', 'libs', 'test'];
    const { modules, summary } = (await output('depcruise', root, args)) as {
      modules: { source: string; dependencies: { couldNotResolve: boolean }[] }[];
      summary: {
        violations: { from: string; rule: { name: string } }[];
        ruleSetUsed: { forbidden: { name: string }[] };
      };
    };
    for (const { source } of modules) verdicts.set(source, []);
    for (const { from, rule } of summary.violations) verdicts.get(from)?.push(rule.name);
    unresolved = modules.filter((module) => module.dependencies.some((to) => to.couldNotResolve));
    configured = summary.ruleSetUsed.forbidden.map(({ name }) => name);
  });

  it.each(rows)('%s: %s', (rule, _breach, planted) => {
    expect(brokenBy(planted)).toEqual([rule]);
  });

  it('accept every allowed import', () => {
    expect(brokenBy(allowed)).toEqual([]);
  });

  it('are checked with every import resolved', () => {
    expect(unresolved).toEqual([]);
  });

  it('have no rule without a test here', () => {
    expect([...new Set(rows.map(([rule]) => rule))].sort()).toEqual(configured.sort());
  });
});

describe('the lint rules', () => {
  const lines = (count: number): string =>
    Array.from({ length: count }, (_, line) => `export const n${String(line)} = ${String(line)};`)
      .join('\n')
      .concat('\n\n// Neither blank lines nor comments count.\n');

  const breaches: [rule: string, breach: string, path: string, text: string][] = [
    [
      'no-restricted-imports',
      'the domain imports TypeORM',
      'libs/webhooks/src/domain/typeorm.ts',
      `import { DataSource } from 'typeorm';\nexport const source = DataSource;`,
    ],
    [
      'no-restricted-imports',
      'the domain imports a type of TypeORM',
      'libs/webhooks/src/domain/typeorm-type.ts',
      `export type { DataSource } from 'typeorm';`,
    ],
    [
      'no-restricted-imports',
      'a nested domain imports TypeORM',
      'libs/webhooks/src/deliveries/domain/typeorm.ts',
      `export { DataSource } from 'typeorm';`,
    ],
    [
      'no-restricted-syntax',
      'the domain uses an inline import of a TypeORM type',
      'libs/webhooks/src/domain/typeorm-inline.ts',
      `export type Source = import('typeorm').DataSource;`,
    ],
    [
      'no-restricted-syntax',
      'the domain imports TypeORM dynamically',
      'libs/webhooks/src/domain/typeorm-later.ts',
      `export const later = (): Promise<unknown> => import('typeorm');`,
    ],
    [
      'no-restricted-imports',
      'the domain imports an HTTP exception',
      'libs/webhooks/src/domain/exception.ts',
      `import { Injectable, NotFoundException } from '@nestjs/common';\n@Injectable()\nexport class Missing extends NotFoundException {}`,
    ],
    [
      'no-restricted-imports',
      'the domain imports the file system',
      'libs/webhooks/src/domain/nested/files.ts',
      `export { readFile } from 'node:fs/promises';`,
    ],
    [
      'no-restricted-imports',
      'the domain imports the environment',
      'libs/webhooks/src/domain/environment.ts',
      `export { env } from 'node:process';`,
    ],
    [
      'no-restricted-properties',
      'the runtime reads the environment outside its config',
      'libs/runtime/src/database/environment.ts',
      `export const url = process.env.DATABASE_URL;`,
    ],
    [
      'no-restricted-properties',
      'a process destructures its environment',
      'apps/api/src/environment.ts',
      `export const { env } = process;`,
    ],
    [
      'no-restricted-imports',
      'a context imports the environment',
      'libs/webhooks/src/infrastructure/environment.ts',
      `import { env } from 'node:process';\nexport const url = env.DATABASE_URL;`,
    ],
    [
      '@typescript-eslint/no-floating-promises',
      'a promise is not awaited',
      'libs/webhooks/src/infrastructure/floating.ts',
      `export function start(): void {\n  Promise.resolve(1);\n}`,
    ],
    [
      '@typescript-eslint/no-misused-promises',
      'a promise is passed to a function that does not await it',
      'libs/webhooks/src/infrastructure/misused.ts',
      `setTimeout(async () => {\n  await Promise.resolve(1);\n}, 1);`,
    ],
    ['max-lines', 'a file of 251 lines', 'libs/webhooks/src/domain/long.ts', lines(251)],
    [
      '@typescript-eslint/no-floating-promises',
      'a promise of a test is not awaited',
      'test/integration/floating.int-spec.ts',
      `export function start(): void {\n  Promise.resolve(1);\n}`,
    ],
  ];

  const allowed: [fact: string, path: string, text: string][] = [
    [
      'the domain may import itself, the kernel, node:crypto and @Injectable',
      'libs/webhooks/src/domain/allowed.ts',
      `import { Inject, Injectable } from '@nestjs/common';\nimport { createHmac } from 'node:crypto';\nimport '#libs/kernel';\nimport './typeorm.js';\nexport const all = [Inject, Injectable, createHmac];`,
    ],
    [
      'infrastructure may import TypeORM',
      'libs/webhooks/src/infrastructure/allowed.ts',
      `export { DataSource } from 'typeorm';`,
    ],
    [
      'libs/runtime/src/config may read the environment',
      'libs/runtime/src/config/environment.ts',
      `export const url = process.env.DATABASE_URL;`,
    ],
    ['a file of 250 lines is allowed', 'libs/webhooks/src/domain/full.ts', lines(250)],
  ];

  const verdicts: Verdicts = new Map();

  beforeAll(async () => {
    const root = await writeTree('habits', {
      'libs/kernel/src/index.ts': 'export {};',
      ...Object.fromEntries(breaches.map(([, , path, text]) => [path, text])),
      ...Object.fromEntries(allowed.map(([, path, text]) => [path, text])),
    });
    await symlink(join(REPOSITORY, 'node_modules'), join(root, 'node_modules'));
    const args = ['--format', 'json', '.'];
    const results = (await output('eslint', root, args)) as {
      filePath: string;
      messages: { ruleId: string | null; message: string }[];
    }[];
    for (const { filePath, messages } of results) {
      // Without a rule id, the file could not be parsed.
      const broken = messages.map(({ ruleId, message }) => ruleId ?? message);
      verdicts.set(relative(root, filePath), [...new Set(broken)]);
    }
  });

  it.each(breaches)('%s: %s', (rule, _breach, path) => {
    expect(verdicts.get(path)).toEqual([rule]);
  });

  it.each(allowed)('%s', (_fact, path) => {
    expect(verdicts.get(path)).toEqual([]);
  });
});
