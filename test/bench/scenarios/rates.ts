import { type Cost, costOfEvent, PARTS, PARTS_OF_PRODUCT, used } from '../harness/cost.js';
import type { Distribution } from '../harness/distribution.js';
import { byTurns, type Row, type Scenario } from '../harness/scenario.js';
import { firstByte, written } from './accept.js';

const SUBSCRIPTIONS = 20;
/** Events a second, far below the ceiling and up to what a small machine reaches. */
const RATES = [50, 300, 1_000, 2_000] as const;
/** The rate at which the peers were measured, so the one that is shown by part. */
const COMPARED = 300;

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
  });
  return [
    row('p50', 'ms', ({ latency }) => latency.p50 / 1_000),
    row('p99', 'ms', ({ latency }) => latency.p99 / 1_000),
    row('CPU for an event', 'ms', ({ cpu }) => ofProduct(cpu) / 1_000),
    row('wake-ups for an event', '', ({ wakeUps }) => ofProduct(wakeUps)),
    row('statements for an event', '', ({ statements }) => statements),
    ...(rate === COMPARED
      ? PARTS.flatMap((part, index) => [
          row(`CPU for an event, ${part},`, 'µs', ({ cpu }) => cpu[index] ?? NaN),
          row(`wake-ups for an event, ${part},`, '', ({ wakeUps }) => wakeUps[index] ?? NaN),
        ])
      : []),
  ];
}

function ofProduct(parts: readonly number[]): number {
  return parts.slice(0, PARTS_OF_PRODUCT).reduce((sum, part) => sum + part, 0);
}
