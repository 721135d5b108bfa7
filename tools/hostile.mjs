// `npm run test:hostile -- --seconds N`: runs harmful clients and targets for so long each, and measures the effect on
// others (docs/reliability/harm.md).
import { parseArgs } from 'node:util';
import { runVitest } from './lib/run-vitest.mjs';

const { values, positionals } = parseArgs({
  options: { seconds: { type: 'string', default: '30' } },
  allowPositionals: true,
});
const files = positionals.length > 0 ? positionals : ['test/hostile'];

runVitest(['--project=hostile', ...files, '--no-file-parallelism', '--testTimeout=600000'], {
  HOSTILE_SECONDS: values.seconds,
});
