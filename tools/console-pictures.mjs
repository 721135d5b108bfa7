// `npm run console:pictures`: pictures of every page of the console, of a realistic installation that it makes.
import { runVitest } from './lib/run-vitest.mjs';

runVitest(['--project=pictures', ...process.argv.slice(2)]);
