import type { Scenario } from '../harness/scenario.js';
import { firstByte } from './accept.js';

const ACCOUNTS = 20;
const SLICES = 10;
/** A slice takes this many measurements' time: with 5 s, all together take half an hour. */
const LENGTH = 36;
/** Share of the ceiling. */
const LOAD = 0.4;

export const soak: Scenario = {
  name: 'soak',
  about: 'half an hour of steady load: flat latency, flat memory',
  isLong: true,
  async run(site, { seconds }) {
    const deployment = await site.deploy(await site.database('soak'));
    const accounts = await deployment.accounts(ACCOUNTS);
    await deployment.saturate(accounts, { seconds });
    const { rate: ceiling } = await deployment.saturate(accounts, { seconds });
    await deployment.quiet();
    const slices: { p50: number; p99: number; api: number; worker: number }[] = [];
    for (let slice = 0; slice < SLICES; slice += 1) {
      const load = () =>
        deployment.open(deployment.reporting(accounts), ceiling * LOAD, seconds * LENGTH);
      const { p50, p99 } = await firstByte(site, load);
      slices.push({ p50, p99, ...deployment.memory() });
    }
    await deployment.end();
    const [first, last] = [slices.slice(0, SLICES / 2), slices.slice(-SLICES / 2)];
    const parts = (of: (slice: (typeof slices)[number]) => number) =>
      last.map((slice, index) => of(slice) / of(first[index]!));
    return [
      { what: 'p50, second half / first', values: parts(({ p50 }) => p50), unit: '' },
      { what: 'p99, second half / first', values: parts(({ p99 }) => p99), unit: '' },
      { what: 'memory of the API, second half / first', values: parts(({ api }) => api), unit: '' },
      {
        what: 'memory of the worker, second half / first',
        values: parts(({ worker }) => worker),
        unit: '',
      },
    ];
  },
};
