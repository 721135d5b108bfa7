import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ROOT } from '#tools/settings';
import { createUser } from '../support/accounts.js';
import { type DemoAccount, startDemoAccount } from '../support/demo-account.js';
import { clientOf } from '../support/http.js';

/** What an empty project has after `npm install` of the package, which this test must not fetch. */
const INSTALLED = ['openapi-fetch', 'openapi-typescript-helpers'];
const OPTIONS = { strict: true, module: 'nodenext', target: 'es2023', types: [] };

const run = promisify(execFile);

let demo: DemoAccount;
let project: string;

beforeAll(async () => {
  demo = await startDemoAccount();
  project = mkdtempSync(join(tmpdir(), 'project-'));
  const packed = await run(process.execPath, ['tools/client-package.mjs'], { cwd: ROOT });
  const [, file = ''] = /^wrote (.+)$/m.exec(packed.stdout) ?? [];
  const modules = join(project, 'node_modules/switchhook-client');
  mkdirSync(modules, { recursive: true });
  await run('tar', ['-xzf', join(ROOT, file), '-C', modules, '--strip-components=1']);
  for (const name of INSTALLED) {
    symlinkSync(join(ROOT, 'node_modules', name), join(project, 'node_modules', name));
  }
  const lib = ['es2023', 'dom'];
  write('tsconfig.json', JSON.stringify({ compilerOptions: { ...OPTIONS, lib } }));
  write('package.json', JSON.stringify({ type: 'module' }));
});
afterAll(async () => {
  rmSync(project, { recursive: true });
  await demo.stop();
});

function write(name: string, text: string): void {
  writeFileSync(join(project, name), text);
}

/** What the compiler says. */
async function compiled(): Promise<string> {
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  const { stdout } = await run(process.execPath, [tsc, '-p', project]).catch(
    (error: unknown) => error as { stdout: string },
  );
  return stdout;
}

it('compiles and runs the program of the documentation in an empty project', async () => {
  const page = readFileSync(join(ROOT, 'docs/generated-clients.md'), 'utf8');
  const [, program = ''] = /```ts\n([^]+?)```/.exec(page) ?? [];
  const platform = clientOf(
    demo.api.url,
    (await createUser(demo.database, 'switch', 'platform')).auth,
  );
  const call = { event: 'cdrCreated', resource: 'call', accountId: demo.id, data: {} };
  const { id } = (await platform.post('/v1/events', call)).json<{ id: string }>();
  write('program.ts', program.replace('http://127.0.0.1:3000', demo.api.url));
  expect(await compiled()).toBe('');
  const { stdout } = await run(process.execPath, ['program.js'], { cwd: project });
  expect(stdout).toBe(`https://shop.example.com/voice\n${id} cdrCreated\n`);
});

it('lets the compiler find a wrong path and a wrong member', async () => {
  write(
    'program.ts',
    `import { createClient } from 'switchhook-client';
const client = createClient({ baseUrl: '', username: '', password: '' });
await client.GET('/v1/nothing');
await client.POST('/v1/applications', { body: { nam: 'Shop' } });`,
  );
  expect(await compiled()).toMatch(/^.+\(3,.+\n.+\(4,.+'nam' does not exist/);
});
