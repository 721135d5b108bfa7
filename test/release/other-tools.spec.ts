import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { requireProgram } from '#tools/apt';
import { pythonOf, requirePython } from '#tools/python';
import { ROOT } from '#tools/settings';
import { GeneratedClients, run } from '../support/generated-client.js';

const SCHEMATHESIS = 'test/release/requirements-schemathesis.txt';

await requireProgram('javac', 'default-jdk-headless');
await requireProgram('mvn', 'maven');
await requireProgram('go', 'golang-go');
await requirePython(SCHEMATHESIS);

let clients: GeneratedClients;

beforeAll(async () => {
  clients = await GeneratedClients.start();
});
afterAll(() => clients.stop());

it('redocly finds no fault with the description', async () => {
  const lint = ['redocly', 'lint', '--config', join(ROOT, 'test/release/redocly.yaml')];
  const npm = ['exec', '--yes', '--package=@redocly/cli@2.77.0', '--', ...lint];
  await run('npm', [...npm, clients.description]);
});

it('a Java client that openapi-generator generates compiles and works', () =>
  clients.tryJava('OpenApiGenerator.java', (to) =>
    clients.generate('java', '--library', 'native', '-o', to),
  ));

it('a Go client that oapi-codegen generates compiles and works', () =>
  clients.tryGo('oapi_codegen.go', ['github.com/oapi-codegen/runtime@v1.8.0'], (to) => {
    const generator = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2';
    const args = ['-generate', 'types,client', '-package', 'generated', '-o', to];
    return run('go', ['run', generator, ...args, clients.description]);
  }));

/** What Schemathesis does not check here, and why. `npm run test:fuzz` checks the last two, because it reads words. */
const NOT_CHECKED = [
  // After ten failed logins, the answer is 429 instead of 401.
  'ignored_auth',
  // Some rules are only in words, because JSON Schema cannot express them.
  'positive_data_acceptance',
  // Unknown parameters are ignored, integers are accepted as ids, and each event of a batch has its own result.
  'negative_data_rejection',
];

it.each(['account', 'platform'] as const)(
  'Schemathesis finds no answer to a user of the role %s that is not described',
  async (role) => {
    const schemathesis = join(pythonOf(SCHEMATHESIS), 'bin/st');
    const login = await clients.loginOf(role);
    const options = [
      '--url',
      clients.url,
      '--auth',
      login,
      '--phases',
      'examples,coverage,fuzzing',
    ];
    // An answer without an end is not what it can judge.
    const checks = ['--exclude-checks', NOT_CHECKED.join(','), '--exclude-path', '/v1/stream'];
    const seed = ['--seed', '20261124', '--max-examples', '50', '--continue-on-failure'];
    const output = await run(schemathesis, [
      ...['run', clients.description],
      ...options,
      ...checks,
      ...seed,
    ]);
    expect(output).toMatch(/Tested: [45]\d/);
    console.log(output.slice(output.indexOf('= SUMMARY')));
  },
);
