// `npm run test:foreign`: what other people's tools, which take long or are fetched for it, say about the API.
import { requirePython } from './lib/python.mjs';
import { runVitest } from './lib/run-vitest.mjs';

runVitest(['--project=foreign', '--testTimeout=900000'], {}, () =>
  requirePython('test/foreign/requirements-schemathesis.txt'),
);
