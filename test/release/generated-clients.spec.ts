import { dirname, join } from 'node:path';
import { afterAll, beforeAll, it } from 'vitest';
import { ROOT } from '#tools/settings';
import { GeneratedClients, PYTHON, run } from '../support/generated-client.js';

let clients: GeneratedClients;

beforeAll(async () => {
  clients = await GeneratedClients.start();
});
afterAll(() => clients.stop());

it("hey-api's TypeScript client compiles and works", () =>
  clients.tryTypeScript('hey-api.ts', (to) =>
    run(join(ROOT, 'node_modules/.bin/openapi-ts'), ['-i', clients.description, '-o', to]),
  ));

it("openapi-generator's TypeScript client compiles and works", () =>
  clients.tryTypeScript('openapi-generator.ts', (to) =>
    clients.generate('typescript-fetch', '-o', to),
  ));

it("openapi-generator's Python client compiles and works", () =>
  clients.tryPython('openapi_generator.py', PYTHON, (to) =>
    clients.generate('python', '-o', dirname(to), '--package-name', 'generated'),
  ));

it("openapi-python-client's Python client compiles and works", () =>
  clients.tryPython('openapi_python_client.py', PYTHON, (to) => {
    const args = ['generate', '--meta', 'none', '--fail-on-warning', '--overwrite'];
    const where = ['--path', clients.description, '--output-path', to];
    // It formats its output with a separate program.
    const PATH = `${join(PYTHON, 'bin')}:${process.env['PATH'] ?? ''}`;
    return run(join(PYTHON, 'bin/openapi-python-client'), [...args, ...where], { PATH });
  }));
