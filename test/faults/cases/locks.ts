import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '#tools/eventually';
import { lostOf, makeAccount, unsubscribe } from '../harness/account.js';
import {
  breachesOf,
  type Experience,
  experienceIn,
  noteOf,
  type Span,
  watched,
} from '../harness/bystander.js';
import type { FaultCase } from '../harness/fault-case.js';
import type { Installation } from '../harness/installation.js';
import { asPsql } from '../harness/psql.js';
import { confirm } from '../harness/receiver.js';
import { refuse } from '../harness/refusing.js';

const RATE = 100;
const LOCKED_MS = 60_000;
/** Their calls end one after the other, so the outcome of each is recorded together with other deliveries. */
const LOCKED = 10;
/** Long enough to lock the deliveries before the first call ends. */
const CALL_MS = { least: 1_000, each: 150 };

let span: Span;
const experience = (installation: Installation): Experience => experienceIn(span, installation);
const notes = (installation: Installation): string[] => [noteOf(experience(installation))];

const beside = {
  producersNotice: 'nothing',
  duplicates: 'none',
  rate: RATE,
  setup: { paths: ['/other'] },
} as const;

let lost: () => number;

/** The calls end with 500 while their deliveries are locked, so the outcomes can be recorded only a minute later. */
export const lockedDelivery: FaultCase = {
  ...beside,
  name: 'locked-delivery',
  about: 'psql locks ten deliveries for a minute while their calls are in flight',
  harm: async (installation) => {
    const { receiver, postgres } = installation;
    const account = await makeAccount(installation, 'locked', ['/locked']);
    lost = () => lostOf([account], installation);
    const called: string[] = [];
    receiver.answering = (arrival, response) => {
      if (arrival.path === '/locked' && arrival.earlier === 0) {
        const takesMs = CALL_MS.least + called.push(arrival.id) * CALL_MS.each;
        setTimeout(() => response.writeHead(500).end(), takesMs);
      } else confirm(arrival, response);
    };
    await account.producer.report(LOCKED);
    await eventually(() => called.length === LOCKED, Boolean, {
      what: 'all calls are in flight',
    });
    const lock = 'SELECT FROM deliveries WHERE id = ANY ($1) FOR UPDATE';
    const found = await asPsql(postgres, lock, [called], async () => {
      span = await watched(installation, () => sleep(LOCKED_MS));
    });
    if (found !== LOCKED) throw new Error('the deliveries could not be locked');
  },
  check: (installation) =>
    Promise.resolve([
      ...breachesOf(experience(installation)),
      ...(lost() === 0 ? [] : ['the locked deliveries never arrived']),
    ]),
  notes,
};

/** Together, these answers cause every change that an answer can make to a subscription. */
const REFUSING = ['429', '410', '500'].flatMap((status) =>
  ['a', 'b'].map((name) => `/refusing/${status}/${name}`),
);

export const lockedSubscription: FaultCase = {
  ...beside,
  name: 'locked-subscription',
  about:
    'psql locks subscriptions for a minute while their targets answer 429, 410 and 500: another ' +
    'account notices nothing',
  harm: async (installation) => {
    const { receiver, postgres } = installation;
    const account = await makeAccount(installation, 'locked', REFUSING);
    receiver.answering = (arrival, response) => {
      if (arrival.path.startsWith('/refusing/')) refuse(arrival, response);
      else confirm(arrival, response);
    };
    const lock = 'SELECT FROM webhooks WHERE id = ANY ($1) FOR UPDATE';
    const found = await asPsql(postgres, lock, [account.subscriptions], async () => {
      account.producer.start(RATE / 10);
      span = await watched(installation, () => sleep(LOCKED_MS));
    });
    if (found !== REFUSING.length) throw new Error('the subscriptions could not be locked');
    await account.producer.finish();
    await unsubscribe(installation, account);
  },
  check: (installation) => Promise.resolve(breachesOf(experience(installation))),
  notes,
};

/** Four processes with ten connections each. None may open more because its connections wait. */
const MOST_WAITING = 40;
/** After Retry-After, producers repeat the events of a whole minute. */
const SOON_MS = 10_000;
const AFTERWARDS_MS = 10_000;

/** The lock blocks all reads and writes of the day. */
export const lockedPartition: FaultCase = {
  name: 'locked-partition',
  about:
    "psql locks today's partition of deliveries for a minute: producers get 503, and everything " +
    'recovers automatically',
  rate: 25,
  producersNotice: 'unavailable',
  duplicates: 'explained',
  setup: { paths: ['/other'] },
  harm: async (installation) => {
    const { postgres } = installation;
    const [today] = await postgres.query<{ name: string }>(
      'SELECT tableoid::regclass::text AS name FROM deliveries ORDER BY id DESC LIMIT 1',
    );
    const lock = `LOCK TABLE ${today?.name ?? ''} IN ACCESS EXCLUSIVE MODE`;
    let locked: Span | undefined;
    await installation.harming('cut off', 'all', () =>
      asPsql(postgres, lock, [], async () => {
        locked = await watched(installation, () => sleep(LOCKED_MS));
      }),
    );
    await eventually(async () => (await installation.pending()) < RATE, Boolean, {
      what: 'events accepted in the meantime are delivered',
    });
    await sleep(SOON_MS);
    span = await watched(installation, () => sleep(AFTERWARDS_MS));
    span.waiting = locked?.waiting ?? 0;
  },
  check: (installation) =>
    Promise.resolve([
      ...breachesOf(experience(installation), { rate: 0.95, p99Ms: 2_000, waiting: MOST_WAITING }),
    ]),
  notes: (installation) => [`afterwards, ${noteOf(experience(installation))}`],
};
