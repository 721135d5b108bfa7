// `npm run test:hostile -- --seconds N`: runs harmful clients and targets, all at once and for longer than in `npm
// test`, and measures the effect on others (docs/reliability.md).
import { parseArgs } from 'node:util';
import { runVitest } from './lib/run-vitest.mjs';

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '30' } } });

runVitest(
  [
    'test/e2e/hostile-clients.e2e-spec.ts',
    'test/e2e/hostile-filters.e2e-spec.ts',
    'test/e2e/hostile-strangers.e2e-spec.ts',
    'test/e2e/hostile-targets.e2e-spec.ts',
    '--no-file-parallelism',
    '--testTimeout=600000',
  ],
  {
    HOSTILE_SECONDS: values.seconds,
  },
);
