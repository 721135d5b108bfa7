// `npm run console:pictures`: takes pictures of every page of the console, with realistic data that it creates.
import { runVitest } from './lib/run-vitest.mjs';

runVitest(['--project=pictures', ...process.argv.slice(2)]);
