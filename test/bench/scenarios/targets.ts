import { byTurns, ratios, type Scenario } from '../harness/scenario.js';
import { firstByte } from './accept.js';

const ACCOUNTS = 20;

export const delays: Scenario = {
  name: 'delays',
  about: 'receivers that answer at once, after 20 and after 200 ms',
  async run(site, { rounds, seconds }) {
    const deployment = await site.deploy(await site.database('delays'));
    const measurement = async (way: string) => {
      const accounts = await deployment.accounts(ACCOUNTS, way);
      return async () => {
        const { rate } = await deployment.saturate(accounts, { seconds });
        await deployment.quiet();
        return rate;
      };
    };
    const measured = await byTurns(rounds, {
      none: await measurement('now'),
      short: await measurement('after-20'),
      long: await measurement('after-200'),
    });
    await deployment.end();
    return [
      {
        what: 'accepted and delivered, 20 ms / at once',
        values: ratios(measured.short, measured.none),
        unit: '',
      },
      {
        what: 'accepted and delivered, 200 ms / at once',
        values: ratios(measured.long, measured.none),
        unit: '',
      },
    ];
  },
};

export const hanging: Scenario = {
  name: 'hanging',
  about: 'healthy targets while a tenth of the targets hang, at a third of the ceiling',
  async run(site, { rounds, seconds }) {
    const deployment = await site.deploy(await site.database('hanging'));
    const healthy = await deployment.accounts(ACCOUNTS);
    await deployment.saturate(healthy, { seconds });
    const { rate: ceiling } = await deployment.saturate(healthy, { seconds });
    await deployment.quiet();
    const rate = ceiling / 3;
    const reportingFor = 2 * seconds;
    const measured = await byTurns(rounds, {
      undisturbed: () =>
        firstByte(site, () =>
          deployment.open(deployment.reporting(healthy), rate * 0.9, reportingFor),
        ),
      disturbed: async () => {
        const hang = await deployment.accounts(ACCOUNTS / 10, 'never');
        const calling = deployment.open(deployment.reporting(hang), rate * 0.1, reportingFor);
        const seen = await firstByte(site, () =>
          deployment.open(deployment.reporting(healthy), rate * 0.9, reportingFor),
        );
        await calling;
        await deployment.unsubscribe(hang);
        await deployment.quiet();
        return seen;
      },
    });
    await deployment.end();
    const p99 = (of: { p99: number }[]) => of.map((one) => one.p99);
    return [
      {
        what: 'p99 of the healthy, a tenth hanging / undisturbed',
        values: ratios(p99(measured.disturbed), p99(measured.undisturbed)),
        unit: '',
        bound: { atMost: 1.2 },
      },
      {
        what: 'p99 undisturbed',
        values: p99(measured.undisturbed).map((us) => us / 1e3),
        unit: 'ms',
      },
    ];
  },
};

export const retryStorm: Scenario = {
  name: 'retry-storm',
  about: 'every target answers every notification with 500 first',
  async run(site, { rounds, seconds }) {
    const environment = { DELIVERY_RETRY_SCHEDULE: '1s,1s,1s,1s,1s' };
    const deployment = await site.deploy(await site.database('retry_storm'), { environment });
    const sound = await deployment.accounts(ACCOUNTS);
    const failing = await deployment.accounts(ACCOUNTS, 'second');
    const measurement = (accounts: typeof sound, attempts: number) => async () => {
      const { rate } = await deployment.saturate(accounts, { seconds });
      await deployment.quiet();
      return rate * attempts;
    };
    const measured = await byTurns(rounds, {
      sound: measurement(sound, 1),
      storm: measurement(failing, 2),
    });
    await deployment.end();
    return [
      {
        what: 'attempts, each first one failing / none failing',
        values: ratios(measured.storm, measured.sound),
        unit: '',
        bound: { atLeast: 0.8 },
      },
    ];
  },
};
