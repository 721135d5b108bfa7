// `npm run test:hostile -- --seconds N`: runs harmful clients and targets for so long each, and measures the effect on
// others (docs/reliability.md).
import { parseArgs } from 'node:util';
import { runVitest } from './lib/run-vitest.mjs';

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '30' } } });

runVitest(['test/hostile', '--no-file-parallelism', '--testTimeout=600000'], {
  HOSTILE_SECONDS: values.seconds,
});
