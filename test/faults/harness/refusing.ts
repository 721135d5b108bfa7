import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Account, makeAccount, unsubscribe } from './account.js';
import { call } from './call.js';
import type { Installation } from './installation.js';
import { type Arrival, confirm } from './receiver.js';
import type { ServiceProcess } from '../../support/service-process.js';

const SUBSCRIPTIONS = 20;
/** Each event goes to all subscriptions. */
const EVENTS_PER_S = 5;
/** Keeps calls in flight at all times. */
const ANSWER_AFTER_MS = 200;

/** Answers with the status in the path: 429 with Retry-After, 410, or 500. */
export function refuse(arrival: Arrival, response: ServerResponse): void {
  const status = Number(arrival.path.split('/')[2]);
  const answer = () => {
    response.writeHead(status, status === 429 ? { 'retry-after': '1' } : {}).end();
  };
  setTimeout(answer, ANSWER_AFTER_MS);
}

/**
 * Runs an action beside an account with continuous events, whose targets answer 429 and 410. At the end, its pending
 * deliveries are cancelled, because its targets refuse them.
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

/** Continuously changes the subscriptions of an account through one API, and switches them on again. */
export class Changes {
  private running = true;
  private readonly loops: Promise<void>[];

  constructor(api: ServiceProcess, { auth, subscriptions }: Account) {
    const to = { url: `http://127.0.0.1:${String(api.port)}`, auth };
    this.loops = subscriptions.map(async (id) => {
      for (let count = 0; this.running; count += 1) {
        const body = { name: `name ${String(count)}`, enabled: true };
        // The answers during the fault do not matter.
        await call(to, 'PUT', `/v1/webhooks/${id}`, body).catch(() => sleep(100));
      }
    });
  }

  /** Starts no further change. */
  end(): void {
    this.running = false;
  }

  async ended(): Promise<void> {
    this.end();
    await Promise.all(this.loops);
  }
}

/** How many subscriptions stay locked for `ms`, by a stalled transaction. */
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
