import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Account, makeAccount, unsubscribe } from './account.js';
import { call } from './call.js';
import type { Installation } from './installation.js';
import { type Arrival, confirm } from './receiver.js';
import type { ServiceProcess } from '../../support/service-process.js';

const SUBSCRIPTIONS = 20;
/** Each is told to all subscriptions. */
const EVENTS_PER_S = 5;
/** So that calls are on their way at any moment. */
const ANSWER_AFTER_MS = 200;

/** Refuses by what a path says: `429` with Retry-After, `410`, or `500`. */
export function refuse(arrival: Arrival, response: ServerResponse): void {
  const status = Number(arrival.path.split('/')[2]);
  const answer = () => {
    response.writeHead(status, status === 429 ? { 'retry-after': '1' } : {}).end();
  };
  setTimeout(answer, ANSWER_AFTER_MS);
}

/**
 * An account whose targets answer 429 and 410, while something is done; with events all the time.
 * What is pending for it in the end is cancelled: it has refused it.
 */
export async function besideRefusing(
  installation: Installation,
  work: (account: Account) => Promise<void>,
): Promise<void> {
  const paths = Array.from(
    { length: SUBSCRIPTIONS },
    (_, number) => `/refusing/${number % 2 === 0 ? '429' : '410'}/${String(number)}`,
  );
  const account = await makeAccount(installation, 'refusing', paths);
  installation.receiver.answering = (arrival, response) => {
    if (arrival.path.startsWith('/refusing/')) refuse(arrival, response);
    else confirm(arrival, response);
  };
  account.producer.start(EVENTS_PER_S);
  try {
    await work(account);
  } finally {
    await account.producer.finish();
    await unsubscribe(installation, account);
  }
}

/** Changes the subscriptions of an account at one API, all the time, and switches them on again. */
export class Changes {
  private running = true;
  private readonly loops: Promise<void>[];

  constructor(api: ServiceProcess, { auth, subscriptions }: Account) {
    const to = { url: `http://127.0.0.1:${String(api.port)}`, auth };
    this.loops = subscriptions.map(async (id) => {
      for (let count = 0; this.running; count += 1) {
        const body = { name: `name ${String(count)}`, enabled: true };
        // What it answers while harm is done to it is its own affair.
        await call(to, 'PUT', `/v1/webhooks/${id}`, body).catch(() => sleep(100));
      }
    });
  }

  /** Begins no further one. */
  end(): void {
    this.running = false;
  }

  async ended(): Promise<void> {
    this.end();
    await Promise.all(this.loops);
  }
}

/** How many of the subscriptions are locked by a transaction that does not go on. */
export async function lockedFor(
  { postgres }: Installation,
  { subscriptions }: Account,
  ms: number,
): Promise<number> {
  const locked = async () => {
    const free = await postgres.query<{ id: string }>(
      'SELECT id FROM webhooks WHERE id = ANY ($1) FOR UPDATE SKIP LOCKED',
      [subscriptions],
    );
    return subscriptions.filter((id) => !free.some((row) => row.id === id));
  };
  const before = await locked();
  await sleep(ms);
  const after = await locked();
  return after.filter((id) => before.includes(id)).length;
}
