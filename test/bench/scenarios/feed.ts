import { request } from 'undici';
import { now } from '../harness/clock.js';
import { type Deployment, PLATFORM } from '../harness/deployment.js';
import { distributionOf } from '../harness/distribution.js';
import { byTurns, ratios, type Scenario } from '../harness/scenario.js';

const ACCOUNTS = 20;
/** Events per second, well below the ceiling. */
const RATE = 300;
const BOUND = { atMost: 1_000 };
const LIMIT = 1_000;
const WAIT_S = 5;

/** A load, and how long its events took to the feed. */
interface Followed {
  rate: number;
  p99Ms: number;
}

export const feed: Scenario = {
  name: 'feed',
  about: 'from a report to the feed of all accounts, which one client follows',
  async run(site, { rounds, seconds }) {
    const deployment = await site.deploy(await site.database('feed'));
    const accounts = await deployment.accounts(ACCOUNTS);
    const measured = await byTurns<string, Followed>(rounds, {
      steady: () =>
        followed(deployment, async () => {
          const { calls } = await deployment.open(deployment.reporting(accounts), RATE, seconds);
          return { events: calls, rate: RATE };
        }),
      full: () => followed(deployment, () => deployment.saturate(accounts, { seconds })),
      alone: async () => {
        const { rate } = await deployment.saturate(accounts, { seconds });
        return { rate, p99Ms: NaN };
      },
    });
    await deployment.quiet();
    await deployment.end();
    const { steady = [], full = [], alone = [] } = measured;
    const p99 = (of: readonly Followed[]) => of.map(({ p99Ms }) => p99Ms);
    const rates = (of: readonly Followed[]) => of.map(({ rate }) => rate);
    return [
      {
        what: `p99 from report to feed at ${String(RATE)} a second`,
        ...{ values: p99(steady), unit: 'ms', bound: BOUND },
      },
      {
        what: 'p99 from report to feed at full load',
        ...{ values: p99(full), unit: 'ms', bound: BOUND },
      },
      {
        what: 'accepted and delivered, followed / not followed',
        ...{ values: ratios(rates(full), rates(alone)), unit: '' },
      },
    ];
  },
};

/** Follows the feed while events are reported, until it has all of them. */
async function followed(
  deployment: Deployment,
  report: () => Promise<{ events: number; rate: number }>,
): Promise<Followed> {
  const delaysUs: number[] = [];
  let { cursor } = await read(deployment, '');
  let expected = Infinity;
  const follow = async () => {
    while (delaysUs.length < expected) {
      const page = await read(deployment, `&wait=${String(WAIT_S)}&after=${cursor}`);
      const at = now();
      cursor = page.cursor;
      for (const [, sent] of page.text.matchAll(/"sent":(\d+)/g)) delaysUs.push(at - Number(sent));
    }
  };
  const following = follow();
  const { events, rate } = await report();
  expected = events;
  await following;
  return { rate, p99Ms: distributionOf(delaysUs).p99 / 1_000 };
}

async function read(deployment: Deployment, query: string) {
  const origin = `http://127.0.0.1:${String(deployment.apis[0]?.port)}`;
  const authorization = `Basic ${Buffer.from(PLATFORM).toString('base64')}`;
  const answer = await request(`${origin}/v1/feed?limit=${String(LIMIT)}${query}`, {
    headers: { authorization },
  });
  const text = await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(`GET /v1/feed: ${text}`);
  return { text, cursor: String(answer.headers['switchhook-cursor']) };
}
