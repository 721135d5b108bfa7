import { request } from 'undici';
import { costOfEvent, ofProduct, PARTS, PARTS_OF_PRODUCT, used } from '../harness/cost.js';
import type { Account, Deployment } from '../harness/deployment.js';
import type { Received } from '../harness/receiver.js';
import { byTurns, ratios, type Scenario } from '../harness/scenario.js';
import type { Site } from '../harness/site.js';

const ACCOUNTS = 20;
/** WORKER_CONCURRENCY by default. */
const CONCURRENCY = 400;
/** The share of all notifications after which a consumer is warm. */
const WARM = 0.2;
/** After so many events, a new process has compiled its hot code. Until then, an event costs it twice as much. */
const WARM_UP_EVENTS = 60_000;
/** Concurrent reports. */
const AT_ONCE = [64, 256];
/** Events per second, of the usual installation. */
const RATE = 300;

export const workerAlone: Scenario = {
  name: 'worker-alone',
  about: 'a worker with a full queue, against a bare Bull consumer that posts and stores nothing',
  async run(site, { rounds, seconds }) {
    const jobs = Math.round(seconds * 6_000);
    const database = await site.database('worker_alone');
    const accounts = await (async () => {
      const deployment = await site.deploy(database, { workers: 0 });
      const made = await deployment.accounts(ACCOUNTS);
      await deployment.end();
      return made;
    })();
    const measured = await byTurns(rounds, {
      ours: async () => {
        await site.receiver.reset();
        const api = await site.deploy(database, { workers: 0 });
        await api.store(accounts, jobs);
        await api.end();
        const worker = await site.deploy(database, { apis: 0 });
        const rate = warmRate(await site.receiver.reached(jobs));
        await worker.quiet();
        await worker.end();
        return rate;
      },
      bare: async () => {
        await site.receiver.reset();
        const redis = new URL('/15', site.redis.url).toString();
        const given = [`${site.receiver.url}/now/bare`, redis, String(jobs), String(CONCURRENCY)];
        const bare = await site.baseline('bull-consumer', ...given);
        await (await request(`${bare.origin}/consume`)).body.dump();
        const rate = warmRate(await site.receiver.reached(jobs));
        bare.end();
        return rate;
      },
    });
    return [
      {
        what: 'a worker alone / bare Bull consumer',
        values: ratios(measured.ours, measured.bare),
        unit: '',
        bound: { atLeast: 0.9 },
      },
      { what: 'deliveries of a worker alone', values: measured.ours, unit: '/s' },
    ];
  },
};

export const scaleOut: Scenario = {
  name: 'scale-out',
  about: '1, 2 and 4 APIs and workers that share the machine, receivers that answer at once',
  async run(site, { rounds, seconds }) {
    const [one, two, four] = [
      await warm(site, 1, seconds),
      await warm(site, 2, seconds),
      await warm(site, 4, seconds),
    ];
    const measured = await byTurns(rounds, {
      one: () => scaled(site, one, seconds),
      two: () => scaled(site, two, seconds),
      four: () => scaled(site, four, seconds),
    });
    for (const { deployment } of [one, two, four]) await deployment.end();
    const ratesOf = (of: Measured[], index: number) => of.map(({ rates }) => rates[index] ?? NaN);
    const cpuOf = (of: Measured[], part?: number) =>
      of.map(({ cpu }) => (part === undefined ? ofProduct(cpu) : (cpu[part] ?? NaN)));
    return [
      ...AT_ONCE.flatMap((atOnce, index) => {
        const what = (count: string) => `rate, ${count} of each / one, ${String(atOnce)} at once`;
        const ofOne = ratesOf(measured.one, index);
        const bound = { atLeast: 0.75 };
        return [
          { what: what('two'), values: ratios(ratesOf(measured.two, index), ofOne), unit: '' },
          {
            what: what('four'),
            values: ratios(ratesOf(measured.four, index), ofOne),
            unit: '',
            bound,
          },
        ];
      }),
      {
        what: `CPU for an event at ${String(RATE)} a second, four of each / one`,
        values: ratios(cpuOf(measured.four), cpuOf(measured.one)),
        unit: '',
        bound: { atMost: 1.25 },
      },
      ...PARTS.slice(0, PARTS_OF_PRODUCT).map((name, part) => ({
        what: `CPU for an event at ${String(RATE)} a second, four of each / one: ${name}`,
        values: ratios(cpuOf(measured.four, part), cpuOf(measured.one, part)),
        unit: '',
      })),
    ];
  },
};

interface Scaled {
  deployment: Deployment;
  accounts: Account[];
}

/** Starts so many APIs and workers, and lets them work until their code is compiled. */
async function warm(site: Site, count: number, seconds: number): Promise<Scaled> {
  const database = await site.database(`scale_out_${String(count)}`);
  const deployment = await site.deploy(database, { apis: count, workers: count });
  const accounts = await deployment.accounts(ACCOUNTS);
  for (let left = count * WARM_UP_EVENTS; left > 0;) {
    left -= (await deployment.saturate(accounts, { seconds })).events;
  }
  await deployment.quiet();
  return { deployment, accounts };
}

async function scaled(
  site: Site,
  { deployment, accounts }: Scaled,
  seconds: number,
): Promise<Measured> {
  const rates: number[] = [];
  for (const atOnce of AT_ONCE) {
    const { rate } = await deployment.saturate(accounts, { seconds, atOnce });
    await deployment.quiet();
    rates.push(rate);
  }
  const before = used(site, deployment);
  const { calls } = await deployment.open(deployment.reporting(accounts), RATE, 2 * seconds);
  await deployment.quiet();
  return { rates, cpu: costOfEvent(before, used(site, deployment), calls).cpu };
}

/** At full load, one rate for each of {@link AT_ONCE}; at {@link RATE}, the CPU time for an event, by part. */
interface Measured {
  rates: number[];
  cpu: number[];
}

/** Notifications per second, from the warm consumer to nine tenths of all, because the tail is slow. */
export function warmRate({ marks, markEvery }: Received): number {
  const [from, to] = [Math.floor(marks.length * WARM), Math.floor(marks.length * 0.9)];
  return (((to - from) * markEvery) / (marks[to]! - marks[from]!)) * 1e6;
}
