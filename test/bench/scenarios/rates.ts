import { type Cost, costOfEvent, ofProduct, PARTS, used } from '../harness/cost.js';
import type { Distribution } from '../harness/distribution.js';
import { type Bound, byTurns, type Row, type Scenario } from '../harness/scenario.js';
import { firstByte, written } from './accept.js';

const SUBSCRIPTIONS = 20;
/** Events per second, well below the ceiling, up to what a small machine reaches. */
const RATES = [100, 300, 1_000, 2_000, 3_000] as const;
/** The rate at which the peers were measured: it has bounds, and is broken down by part. */
const COMPARED = 300;
const BOUNDS: Record<string, Bound> = {
  p50: { atMost: 2.4 },
  p99: { atMost: 8 },
  'CPU for an event': { atMost: 2.1 },
};

interface Measured extends Cost {
  latency: Distribution;
  statements: number;
}

export const rates: Scenario = {
  name: 'rates',
  about: 'CPU time, wake-ups and time until arrival at fixed rates',
  async run(site, { rounds, seconds }) {
    const deployment = await site.deploy(await site.database('rates'));
    const accounts = await deployment.accounts(SUBSCRIPTIONS);
    const measurement = (rate: number) => async (): Promise<Measured> => {
      const statementsBefore = await written(deployment);
      const before = used(site, deployment);
      let events = 0;
      const latency = await firstByte(site, async () => {
        const load = await deployment.open(deployment.reporting(accounts), rate, 2 * seconds);
        events = load.calls;
        return load;
      });
      await deployment.quiet();
      const cost = costOfEvent(before, used(site, deployment), events);
      const { transactions } = await written(deployment);
      return {
        ...cost,
        latency,
        statements: (transactions - statementsBefore.transactions) / events,
      };
    };
    const measured = await byTurns(
      rounds,
      Object.fromEntries(RATES.map((rate) => [String(rate), measurement(rate)])),
    );
    await deployment.end();
    return RATES.flatMap((rate) => rowsOf(rate, measured[String(rate)] ?? []));
  },
};

function rowsOf(rate: number, measured: readonly Measured[]): Row[] {
  const row = (what: string, unit: string, value: (of: Measured) => number): Row => ({
    what: `${what} at ${String(rate)} a second`,
    values: measured.map(value),
    unit,
    ...(rate === COMPARED && BOUNDS[what] && { bound: BOUNDS[what] }),
  });
  const detail = (of: Row, isDetail: boolean): Row => ({ ...of, isDetail });
  return [
    row('p50', 'ms', ({ latency }) => latency.p50 / 1_000),
    row('p99', 'ms', ({ latency }) => latency.p99 / 1_000),
    row('CPU for an event', 'ms', ({ cpu }) => ofProduct(cpu) / 1_000),
    row('wake-ups for an event', '', ({ wakeUps }) => ofProduct(wakeUps)),
    row('statements for an event', '', ({ statements }) => statements),
    ...PARTS.flatMap((part, index) => [
      detail(
        row(`CPU for an event, ${part},`, 'µs', ({ cpu }) => cpu[index] ?? NaN),
        rate !== COMPARED,
      ),
      detail(
        row(`wake-ups for an event, ${part},`, '', ({ wakeUps }) => wakeUps[index] ?? NaN),
        true,
      ),
    ]),
  ];
}
