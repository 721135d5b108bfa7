import { byTurns, ratios, type Scenario } from '../harness/scenario.js';

const SEVERAL = 20;
/** DELIVERY_CONCURRENCY by default. */
const CALLS_AT_ONCE = 50;
/** At 50 ms a call, events arrive twice as fast as this many concurrent calls deliver them. */
const SLOW = 'after-50';

export const oneSubscription: Scenario = {
  name: 'one-subscription',
  about: 'all events for one subscription, against twenty',
  async run(site, { rounds, seconds }) {
    const deployment = await site.deploy(await site.database('one_subscription'));
    const measurement = async (subscriptions: number) => {
      const accounts = await deployment.accounts(subscriptions);
      return async () => {
        const { rate } = await deployment.saturate(accounts, { seconds });
        const { p50 } = await site.receiver.latencyUs();
        await deployment.quiet();
        return { rate, p50 };
      };
    };
    const measured = await byTurns(rounds, {
      one: await measurement(1),
      several: await measurement(SEVERAL),
    });
    const slow = await deployment.accounts(1, SLOW);
    await site.receiver.reset();
    const { calls } = await deployment.open(
      deployment.reporting(slow),
      2 * CALLS_AT_ONCE * 20,
      seconds,
    );
    const { mostAtOnce } = await site.receiver.reached(calls);
    await deployment.quiet();
    await deployment.end();
    const rates = (of: { rate: number }[]) => of.map(({ rate }) => rate);
    const p50 = (of: { p50: number }[]) => of.map((one) => one.p50);
    const ms = (of: number[]) => of.map((us) => us / 1_000);
    return [
      {
        what: 'accepted and delivered, one subscription / twenty',
        values: ratios(rates(measured.one), rates(measured.several)),
        unit: '',
        bound: { atLeast: 0.9 },
      },
      {
        what: 'p50 from report to arrival, one subscription / twenty',
        values: ratios(p50(measured.one), p50(measured.several)),
        unit: '',
        bound: { atMost: 3 },
      },
      {
        what: 'accepted and delivered, one subscription',
        values: rates(measured.one),
        unit: 'events/s',
      },
      { what: 'p50, one subscription', values: ms(p50(measured.one)), unit: 'ms' },
      { what: 'p50, twenty subscriptions', values: ms(p50(measured.several)), unit: 'ms' },
      {
        what: 'calls at once of a worker, one subscription of 50 ms',
        values: [mostAtOnce],
        unit: '',
        bound: { atMost: CALLS_AT_ONCE },
      },
    ];
  },
};
