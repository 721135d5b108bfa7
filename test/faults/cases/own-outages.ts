import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '#tools/eventually';
import { freePort } from '#tools/net';
import { ROOT } from '#tools/settings';
import { type ConnectProxy, startConnectProxy } from '../../support/connect-proxy.js';
import { type DnsServer, startDnsServer } from '../../support/dns-server.js';
import {
  type Account,
  addressOf,
  healthyAccounts,
  lostOf,
  makeAccount,
  unsubscribe,
} from '../harness/account.js';
import type { FaultCase } from '../harness/fault-case.js';
import type { Installation } from '../harness/installation.js';
import { confirm } from '../harness/receiver.js';

const HEALTHY = 20;
const OUTAGE_MS = 60_000;
/** Everything that waited must have been sent this long after the end. */
const SENT_WITHIN_MS = 60_000;
/** Attempts of healthy targets that may be booked before it is clear whose fault it is. */
const MOST_BOOKED = 5;
/** How long a hold may stay unseen. */
const SEEN_WITHIN_MS = 15_000;
/** Nothing listens there. */
const DISCARD = 9;

/** Accounts whose only target refuses every connection, each on a host of its own. */
async function deadAccounts(installation: Installation, count: number): Promise<Account[]> {
  const accounts: Account[] = [];
  for (let n = 1; n <= count; n += 1) {
    const target = `http://127.0.2.${String(n)}:${String(DISCARD)}`;
    accounts.push(await makeAccount(installation, `dead-${String(n)}`, ['/'], target));
  }
  for (const { producer } of accounts) producer.start(1);
  return accounts;
}

const finish = (accounts: readonly Account[]) =>
  Promise.all(accounts.map(({ producer }) => producer.finish()));

async function without(accounts: readonly Account[], installation: Installation): Promise<void> {
  await finish(accounts);
  for (const account of accounts) await unsubscribe(installation, account);
}

interface Seen {
  healthy: readonly Account[];
  /** Failed attempts of the healthy targets. */
  booked: number;
  /** Their subscriptions that failed, whose circuits opened, or that are off. */
  failing: number;
  exhausted: number;
  /** Failed attempts of the dead targets. */
  bookedOfDead: number;
  /** ms until health said that deliveries are held, and until everything was sent after the end. */
  heldAfterMs: number;
  sentAfterMs: number;
}
let seen: Seen;

type Booked = Pick<Seen, 'booked' | 'failing' | 'exhausted' | 'bookedOfDead'>;

async function bookedFor({ postgres }: Installation, healthy: readonly Account[]): Promise<Booked> {
  const failures = `(SELECT count(*)::integer FROM attempts a JOIN deliveries d ON d.id = a.delivery_id
    WHERE a.error IS NOT NULL AND (d.account_id = ANY ($1)) =`;
  const [row] = await postgres.query<Booked>(
    `SELECT ${failures} true) AS booked, ${failures} false) AS "bookedOfDead",
       (SELECT count(*)::integer FROM deliveries
         WHERE account_id = ANY ($1) AND state = 'exhausted') AS exhausted,
       (SELECT count(*)::integer FROM webhooks
         WHERE account_id = ANY ($1) AND (openings > 0 OR open_until IS NOT NULL OR NOT enabled)) AS failing`,
    [healthy.map(({ id }) => id)],
  );
  return row!;
}

/** Which workers hold their deliveries, by their health. */
async function holding({ workers }: Installation): Promise<boolean[]> {
  return Promise.all(
    workers.map(async ({ url }) => {
      const answer = await fetch(`${url}/health/ready`);
      const { hold } = (await answer.json()) as { hold?: string };
      return answer.status === 200 && hold !== undefined;
    }),
  );
}

/** Lets an outage last under load. @param begin returns what ends it */
async function outage(
  installation: Installation,
  begin: () => Promise<() => Promise<void> | void>,
  hostOf = addressOf,
): Promise<void> {
  const healthy = await healthyAccounts(installation, HEALTHY, hostOf);
  // Each worker has had an answer of each host.
  await sleep(10_000);
  const dead = await deadAccounts(installation, 2);
  await sleep(3_000);
  const end = await begin();
  const begunAt = performance.now();
  await eventually(async () => (await holding(installation)).every(Boolean), Boolean, {
    what: 'the health of the workers names the hold',
    ms: SEEN_WITHIN_MS,
  });
  const heldAfterMs = performance.now() - begunAt;
  await sleep(OUTAGE_MS - heldAfterMs);
  await without(dead, installation);
  await end();
  const endedAt = performance.now();
  await Promise.all([installation.producer.finish(), finish(healthy)]);
  await eventually(
    () => installation.unfinished(),
    (count) => count === 0,
    {
      what: 'everything that waited is sent',
      ms: SENT_WITHIN_MS,
    },
  );
  const sentAfterMs = performance.now() - endedAt;
  seen = { healthy, ...(await bookedFor(installation, healthy)), heldAfterMs, sentAfterMs };
}

const check = (installation: Installation): Promise<string[]> => {
  const { booked, failing, exhausted, healthy } = seen;
  const lost = lostOf(healthy, installation);
  const breaches = [
    [booked <= MOST_BOOKED, `${String(booked)} attempts were booked`],
    [failing === 0, `${String(failing)} circuits opened`],
    [exhausted === 0, `${String(exhausted)} notifications were exhausted`],
    [lost === 0, `${String(lost)} notifications were lost`],
  ] as const;
  return Promise.resolve(breaches.filter(([holds]) => !holds).map(([, breach]) => breach));
};

const common = {
  producersNotice: 'nothing',
  duplicates: 'explained',
  rate: 10,
  check,
  notes: () => [
    `${String(seen.booked)} attempts were booked; health named the hold after ` +
      `${(seen.heldAfterMs / 1_000).toFixed(1)} s; everything was sent ${(seen.sentAfterMs / 1_000).toFixed(1)} s after the end`,
  ],
} satisfies Partial<FaultCase>;

const proxyPort = await freePort();
let proxy: ConnectProxy | undefined;
const startProxy = async (): Promise<void> => {
  proxy = await startConnectProxy(undefined, proxyPort);
};

/** The egress proxy is away for a minute. */
export const egressAway: FaultCase = {
  ...common,
  name: 'egress-away',
  about: 'the egress proxy is away for a minute; 20 healthy targets, two dead ones',
  setup: {
    target: async (path, receiver) => {
      if (!proxy) await startProxy();
      return receiver.url + path;
    },
    environment: () => ({ DELIVERY_PROXY_URL: `http://127.0.0.1:${String(proxyPort)}` }),
  },
  harm: (installation) =>
    outage(installation, async () => {
      await proxy!.close();
      return startProxy;
    }),
  cleanUp: () => void proxy?.close(),
};

const nameServerPort = await freePort();
let nameServer: DnsServer | undefined;
let isNameServerSilent = false;
const nameOf = (n: number): string => `healthy-${String(n)}.test`;
/** Of {@link nameOf}; other names are the main receiver's. */
const addressOfName = (name: string): string => {
  const [, n] = /^healthy-(\d+)/.exec(name) ?? [];
  return n === undefined ? '127.0.0.1' : addressOf(Number(n));
};

/** No name server answers for a minute. */
export const resolverAway: FaultCase = {
  ...common,
  name: 'resolver-away',
  about: 'no name server answers for a minute; 20 healthy targets, two dead ones',
  setup: {
    target: async (path, { url }) => {
      nameServer ??= await startDnsServer(({ name, type }) => {
        if (isNameServerSilent) return 'silence';
        return type === 'A' ? [addressOfName(name)] : [];
      }, nameServerPort);
      return url.replace('127.0.0.1', 'main.test') + path;
    },
    environment: () => ({
      NODE_OPTIONS: `--import ${join(ROOT, 'test/faults/harness/name-server.mjs')}`,
      NAME_SERVER: `127.0.0.1:${String(nameServerPort)}`,
    }),
  },
  harm: async (installation) => {
    // Otherwise, calls on open connections would go on.
    installation.receiver.answering = (arrival, response) => {
      response.setHeader('connection', 'close');
      confirm(arrival, response);
    };
    await outage(
      installation,
      () => {
        isNameServerSilent = true;
        return Promise.resolve(() => {
          isNameServerSilent = false;
        });
      },
      nameOf,
    );
  },
  cleanUp: () => {
    void nameServer?.close();
    nameServer = undefined;
  },
};

/** No target answers for a minute. */
export const everybodySilent: FaultCase = {
  ...common,
  name: 'everybody-silent',
  about: 'no target answers for a minute: 20 healthy targets, two dead ones',
  harm: (installation) =>
    installation.harming('cut off', 'all', () =>
      outage(installation, () => {
        installation.receiver.answering = () => undefined;
        return Promise.resolve(() => {
          installation.receiver.answering = confirm;
        });
      }),
    ),
};

const DEAD = 10;
const DEAD_MS = 20_000;

/** A third of all targets is dead for real. */
export const thirdDead: FaultCase = {
  ...common,
  name: 'third-dead',
  about: 'ten of thirty targets refuse connections, each on a host of its own',
  harm: async (installation) => {
    const healthy = await healthyAccounts(installation, HEALTHY);
    const dead = await deadAccounts(installation, DEAD);
    const held = { times: 0 };
    for (const end = performance.now() + DEAD_MS; performance.now() < end;) {
      if ((await holding(installation)).some(Boolean)) held.times += 1;
      await sleep(500);
    }
    await without(dead, installation);
    await finish(healthy);
    const booked = await bookedFor(installation, healthy);
    seen = { healthy, ...booked, heldAfterMs: held.times, sentAfterMs: 0 };
  },
  check: async (installation) => [
    ...(await check(installation)),
    ...(seen.heldAfterMs === 0 ? [] : ['a worker held its deliveries']),
    ...(seen.bookedOfDead >= DEAD
      ? []
      : [`only ${String(seen.bookedOfDead)} attempts were booked`]),
  ],
  notes: () => [`${String(seen.bookedOfDead)} attempts of dead targets were booked, none was held`],
};
