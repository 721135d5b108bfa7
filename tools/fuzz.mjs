// `npm run test:fuzz -- --requests N --seed S`: the fuzz test, for as long as you like, with a random seed by default.
import { parseArgs } from 'node:util';
import { runVitest } from './lib/run-vitest.mjs';

const { values } = parseArgs({
  options: { requests: { type: 'string', default: '20000' }, seed: { type: 'string' } },
});

runVitest(['test/fuzz/fuzz.e2e-spec.ts'], {
  FUZZ_REQUESTS: values.requests,
  FUZZ_SEED: values.seed ?? String(Date.now() % 2 ** 31),
});
