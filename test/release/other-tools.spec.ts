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

it('redocly accepts the description', async () => {
  const lint = ['redocly', 'lint', '--config', join(ROOT, 'test/release/redocly.yaml')];
  const npm = ['exec', '--yes', '--package=@redocly/cli@2.77.0', '--', ...lint];
  await run('npm', [...npm, clients.description]);
});

it("openapi-generator's Java client compiles and works", () =>
  clients.tryJava('OpenApiGenerator.java', (to) =>
    clients.generate('java', '--library', 'native', '-o', to),
  ));

it("oapi-codegen's Go client compiles and works", () =>
  clients.tryGo('oapi_codegen.go', ['github.com/oapi-codegen/runtime@v1.8.0'], (to) => {
    const generator = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2';
    const args = ['-generate', 'types,client', '-package', 'generated', '-o', to];
    return run('go', ['run', generator, ...args, clients.description]);
  }));

/**
 * Checks that Schemathesis skips here, with the reason. `npm run test:fuzz` runs the last two, because it understands
 * the descriptions.
 */
const NOT_CHECKED = [
  // After ten failed logins, the answer is 429 instead of 401.
  'ignored_auth',
  // Some rules exist only in words, because JSON Schema cannot express them.
  'positive_data_acceptance',
  // Unknown parameters are ignored, integers are accepted as ids, and each event of a batch has its own result.
  'negative_data_rejection',
];

it.each(['account', 'platform'] as const)(
  'Schemathesis finds only described answers to a user of the role %s',
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
    // It cannot judge an endless answer.
    const checks = ['--exclude-checks', NOT_CHECKED.join(','), '--exclude-path', '/v1/stream'];
    const seed = ['--seed', '20261124', '--max-examples', '50', '--continue-on-failure'];
    const output = await run(schemathesis, [
      ...['run', clients.description],
      ...options,
      ...checks,
      ...seed,
    ]);
    const [, selected, all, tested] = /Selected: (\d+)\/(\d+)\s+Tested: (\d+)/.exec(output) ?? [];
    expect([Number(selected), tested]).toEqual([Number(all) - 1, selected]);
    console.log(output.slice(output.indexOf('= SUMMARY')));
  },
);
