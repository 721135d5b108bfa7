import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeAccount } from '../harness/account.js';
import type { FaultCase } from '../harness/fault-case.js';
import type { Installation } from '../harness/installation.js';
import { confirm } from '../harness/receiver.js';

const GAUGE = 'switchhook_oldest_due_age_seconds';
/** Two workers make about 16 calls a second, so the backlog lasts a minute and ages meanwhile. */
const CALLS_AT_ONCE = 4;
const CALL_MS = 500;
const BACKLOG = 1_000;
const PAUSED = 50;
const LOOKS = 40;
const LOOK_EVERY_MS = 500;
const MOST_OFF_S = 1;

/**
 * The true value of the gauge, from all pending rows: the age of the oldest due delivery that no worker has leased and
 * whose subscription is not blocked.
 */
const OLDEST_DUE = `
SELECT coalesce(extract(epoch FROM clock_timestamp() - min(d.next_attempt_at)), 0)::float8 AS seconds
FROM deliveries d JOIN webhooks w ON w.id = d.webhook_id
WHERE d.state = 'pending' AND d.next_attempt_at <= now()
  AND (d.claimed_until IS NULL OR d.claimed_until <= now())
  AND w.enabled AND w.deleted_at IS NULL AND NOT w.paused`;

let most: { offS: number; shown: number; truth: number; oldestS: number };

export const oldestDueGauge: FaultCase = {
  name: 'oldest-due-gauge',
  about:
    'a slow target has an ageing backlog, beside a paused subscription: the gauge of the oldest due ' +
    'delivery is off by at most a second',
  rate: 5,
  producersNotice: 'nothing',
  duplicates: 'none',
  setup: {
    paths: ['/other'],
    environment: () => ({ DELIVERY_CONCURRENCY: String(CALLS_AT_ONCE) }),
  },
  harm: async (installation) => {
    const { receiver, producer } = installation;
    let isSlow = true;
    receiver.answering = (arrival, response) => {
      if (arrival.path === '/slow' && isSlow) setTimeout(() => confirm(arrival, response), CALL_MS);
      else confirm(arrival, response);
    };
    const paused = '/v1/webhooks/' + (await makePaused(installation));
    const slow = await makeAccount(installation, 'slow', ['/slow']);
    await producer.report(PAUSED);
    await slow.producer.reportMany(BACKLOG);
    most = { offS: -1, shown: 0, truth: 0, oldestS: 0 };
    for (let looks = 0; looks < LOOKS; looks += 1) {
      await compare(installation);
      await sleep(LOOK_EVERY_MS);
    }
    isSlow = false;
    await installation.call('POST', `${paused}/resume`);
  },
  check: () =>
    Promise.resolve([
      ...(most.offS <= MOST_OFF_S
        ? []
        : [`the gauge showed ${most.shown.toFixed(1)} s instead of ${most.truth.toFixed(1)} s`]),
      ...(most.oldestS > 10 ? [] : ['no delivery was due for long']),
    ]),
  notes: () => [
    `the gauge was at most ${most.offS.toFixed(1)} s off; the oldest had been due for ` +
      `${most.oldestS.toFixed(1)} s`,
  ],
};

/** A paused subscription: its deliveries are older than all others, but not due. */
async function makePaused(installation: Installation): Promise<string> {
  const targetUrl = `${installation.receiver.url}/paused`;
  const body = { event: 'cdrCreated', resource: 'all', targetUrl };
  const { href } = await installation.call<{ href: string }>('POST', '/v1/webhooks', body);
  await installation.call('POST', `${new URL(href).pathname}/pause`);
  return href.slice(href.lastIndexOf('/') + 1);
}

/** Compares each worker's gauge with the true values before and after reading it. */
async function compare({ postgres, workers, metrics }: Installation): Promise<void> {
  const truth = async () =>
    (await postgres.query<{ seconds: number }>(OLDEST_DUE))[0]?.seconds ?? NaN;
  for (const { name } of workers) {
    const before = await truth();
    const shown = await gauge(metrics.get(name) ?? '');
    const after = await truth();
    most.oldestS = Math.max(most.oldestS, after);
    // A worker may claim the oldest delivery between two readings, so the age of the next one is right as well.
    const offS = Math.max(shown - Math.max(before, after), Math.min(before, after) - shown);
    if (offS > most.offS) Object.assign(most, { offS, shown, truth: after });
  }
}

function gauge(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () =>
        resolve(Number(new RegExp(`^${GAUGE} (\\S+)$`, 'm').exec(text)?.[1])),
      );
    });
    asked.on('error', reject);
    asked.end();
  });
}
