// `npm test`: the tests, with a PostgreSQL and a Redis of their own that are gone afterwards.
import { runVitest } from './lib/run-vitest.mjs';

runVitest(['--project=unit', '--project=system', ...process.argv.slice(2)]);
