import { costOfEvent, used } from '../harness/cost.js';
import { type Account, type Deployment } from '../harness/deployment.js';
import { byTurns, ratios, type Scenario } from '../harness/scenario.js';
import type { Site } from '../harness/site.js';

const ACCOUNTS = 5;
/** Subscriptions of each account. */
const EACH = 10;
/** Events a second: of the account that is looked at, and beside it. */
const RATE = 100;
const BESIDE = 200;

/** A filter with three conditions. Each event meets it. */
const met = (number: number) => ({
  filter: { sent: { gt: number }, text: { prefix: 'x' }, 'caller.country': { exists: false } },
});
/** Each event meets the filter of the first subscription only. */
const metByOne = (number: number) => ({
  filter: { ...met(number).filter, sent: { [number === 0 ? 'gt' : 'lt']: 1 } },
});

export const filters: Scenario = {
  name: 'filters',
  about: 'ten filters on an account, and what others notice of them; accepted, not delivered',
  async run(site, { rounds, seconds }) {
    const deployment = await site.deploy(await site.database('filters'), { workers: 0 });
    const plain = await deployment.accounts(ACCOUNTS, 'now', EACH);
    const filtered = await deployment.accounts(ACCOUNTS, 'now', EACH, met);
    const single = await deployment.accounts(ACCOUNTS);
    const choosy = await deployment.accounts(ACCOUNTS, 'now', EACH, metByOne);
    const others = await deployment.accounts(ACCOUNTS);
    const cost = (accounts: readonly Account[]) => () =>
      costOf(site, deployment, accounts, seconds);
    const beside = (accounts: readonly Account[]) => async () => {
      const [own] = await Promise.all([
        deployment.open(deployment.reporting(others), RATE, seconds),
        deployment.open(deployment.reporting(accounts), BESIDE, seconds),
      ]);
      return own.latencyUs;
    };
    const costs = await byTurns(rounds, {
      ...{ plain: cost(plain), filtered: cost(filtered) },
      ...{ single: cost(single), choosy: cost(choosy) },
    });
    const noticed = await byTurns(rounds, { plain: beside(plain), filtered: beside(filtered) });
    await deployment.end();
    const p99 = (of: { p99: number }[]) => of.map((one) => one.p99 / 1_000);
    return [
      {
        what: 'CPU for an event with ten filters that it meets / without filters',
        values: ratios(costs.filtered, costs.plain),
        unit: '',
      },
      {
        what: 'CPU for an event of ten subscriptions without filters',
        values: costs.plain,
        unit: 'µs',
      },
      {
        what: 'CPU for an event that meets one of ten filters / of one subscription without a filter',
        values: ratios(costs.choosy, costs.single),
        unit: '',
      },
      {
        what: "p99 of another account's events beside filters / beside none",
        values: ratios(p99(noticed.filtered), p99(noticed.plain)),
        unit: '',
      },
      {
        what: "p99 of another account's events beside filters",
        values: p99(noticed.filtered),
        unit: 'ms',
      },
    ];
  },
};

/** The processor time of API and PostgreSQL for an event, in µs. */
async function costOf(
  site: Site,
  deployment: Deployment,
  accounts: readonly Account[],
  seconds: number,
): Promise<number> {
  const before = used(site, deployment);
  const { calls } = await deployment.open(deployment.reporting(accounts), BESIDE, seconds);
  const [api = NaN, , postgres = NaN] = costOfEvent(before, used(site, deployment), calls).cpu;
  return api + postgres;
}
