// `npm run test:foreign`: checks the API with other people's tools, which are slow or downloaded for it.
import { requireProgram } from './lib/apt.mjs';
import { requirePython } from './lib/python.mjs';
import { runVitest } from './lib/run-vitest.mjs';

runVitest(['--project=foreign', '--testTimeout=900000', ...process.argv.slice(2)], {}, async () => {
  // They compile and run generated clients.
  await requireProgram('javac', 'default-jdk-headless');
  await requireProgram('mvn', 'maven');
  await requireProgram('go', 'golang-go');
  await requirePython('test/foreign/requirements-schemathesis.txt');
});
