import { request } from 'undici';
import { eventually } from '#tools/eventually';
import type { ServiceProcess } from '../../support/service-process.js';
import { now } from './clock.js';
import type { Database } from './database.js';
import type { Call } from './connection.js';
import { type Load, LoadGenerator, type NextCall } from './load.js';
import type { Receiver } from './receiver.js';

export const PLATFORM = 'platform:platform-secret';
const PASSWORD = 'account-secret';
const CONNECTIONS = 64;
/** The most subscriptions of an account or an application. */
const MOST_SUBSCRIPTIONS = 10;
/** Fills a whole event up to 1 KB. */
const FILLING = 'x'.repeat(850);

/** An account, with its credentials as a header. */
export interface Account {
  id: string;
  authorization: string;
  /** The source of its events: `accountId`, or `applicationId` if some subscriptions belong to one. */
  source: string;
  /** API paths of its subscriptions. */
  subscriptions: string[];
}

/** The result of reporting events until all are delivered. */
export interface Delivered {
  events: number;
  /** Events accepted per second while reporting. */
  acceptRate: number;
  /** Events per second, from the first report to the last delivery. */
  rate: number;
}

/** Shared by all deployments: one may follow another on the same database. */
let eventsMade = 0;

/** APIs and workers on a database, and their load. */
export class Deployment {
  private readonly load: LoadGenerator;
  private accountsMade = 0;

  constructor(
    private readonly receiver: Receiver,
    readonly database: Database,
    readonly apis: readonly ServiceProcess[],
    readonly workers: readonly ServiceProcess[],
  ) {
    this.load = new LoadGenerator(
      apis.map(({ port }) => `http://127.0.0.1:${String(port)}`),
      CONNECTIONS,
    );
  }

  async start(): Promise<void> {
    await Promise.all([...this.apis, ...this.workers].map((one) => one.start()));
  }

  async end(): Promise<void> {
    this.load.close();
    await Promise.all([...this.apis, ...this.workers].map((one) => one.stop()));
  }

  /**
   * Creates accounts with subscriptions whose targets answer as the receiver's paths say.
   * @param fields further ones of a subscription, by its number
   */
  async accounts(
    count: number,
    way = 'now',
    subscriptionsEach = 1,
    fields: (number: number) => object = () => ({}),
  ): Promise<Account[]> {
    const accounts: Account[] = [];
    for (let made = 0; made < count; made += 1) {
      const username = `account-${process.hrtime.bigint()}-${String((this.accountsMade += 1))}`;
      const body = { username, password: PASSWORD };
      const { href } = await this.call('POST', '/v1/users', authorizationOf(PLATFORM), body);
      const id = idIn(href);
      const authorization = authorizationOf(`${username}:${PASSWORD}`);
      const source = `"accountId":"${id}"`;
      const account: Account = { id, authorization, source, subscriptions: [] };
      let collection = '/v1/webhooks';
      for (let number = 0; number < subscriptionsEach; number += 1) {
        if (number === MOST_SUBSCRIPTIONS) {
          const body = { name: 'Benchmark', voiceUrl: 'https://example.com/' };
          const { href: path } = await this.call('POST', '/v1/applications', authorization, body);
          account.source = `"applicationId":"${idIn(path)}"`;
          collection = `${new URL(path).pathname}/webhooks`;
        }
        const targetUrl = `${this.receiver.url}/${way}/${id}/${String(number)}`;
        const kind = { event: 'cdrCreated', resource: 'call' };
        const subscription = { ...kind, targetUrl, ...fields(number) };
        const { href } = await this.call('POST', collection, authorization, subscription);
        account.subscriptions.push(new URL(href).pathname);
      }
      accounts.push(account);
    }
    return accounts;
  }

  async unsubscribe(accounts: readonly Account[]): Promise<void> {
    for (const { authorization, subscriptions } of accounts) {
      for (const path of subscriptions) await this.call('DELETE', path, authorization);
    }
  }

  /** Reports events of the accounts in turn, singly or several per request. */
  reporting(accounts: readonly Account[], eventsEach = 1): NextCall {
    const headers = {
      authorization: authorizationOf(PLATFORM),
      'content-type': 'application/json',
    };
    const event = (dueAt: number) => {
      eventsMade += 1;
      const { source } = accounts[eventsMade % accounts.length]!;
      return eventText(`event-${String(eventsMade)}`, source, dueAt);
    };
    if (eventsEach === 1) {
      return (dueAt) => ({ method: 'POST', path: '/v1/events', headers, body: event(dueAt) });
    }
    return (dueAt): Call => {
      const events = Array.from({ length: eventsEach }, () => event(dueAt)).join(',');
      return { method: 'POST', path: '/v1/events/batch', headers, body: `{"events":[${events}]}` };
    };
  }

  /** Sends as many requests as possible for some seconds, then waits until all events are delivered. */
  async saturate(
    accounts: readonly Account[],
    { seconds = 5, eventsEach = 1, atOnce = CONNECTIONS },
  ): Promise<Delivered> {
    await this.receiver.reset();
    const load = await this.load.closed(this.reporting(accounts, eventsEach), atOnce, seconds);
    const fanOut = accounts[0]?.subscriptions.length ?? 1;
    const events = load.calls * eventsEach;
    const { lastAt } = await this.receiver.reached(events * fanOut);
    return {
      events,
      acceptRate: events / load.seconds,
      rate: (events / (lastAt - load.startedAt)) * 1e6,
    };
  }

  /** Sends as many requests of any kind as possible for some seconds. */
  closed(next: NextCall, seconds: number, atOnce = CONNECTIONS): Promise<Load> {
    return this.load.closed(next, atOnce, seconds);
  }

  /** Sends requests at this rate per second. */
  open(next: NextCall, rate: number, seconds: number): Promise<Load> {
    return this.load.open(next, rate, seconds);
  }

  /** Stores events without waiting for their deliveries. */
  async store(accounts: readonly Account[], count: number, eventsEach = 100): Promise<void> {
    await this.load.exactly(this.reporting(accounts, eventsEach), 4, count / eventsEach);
  }

  /** Deliveries of the last day that are due within a day. */
  async pending(): Promise<number> {
    const { pool } = this.database;
    const least = await pool.query<{ id: string }>(
      `SELECT least_uuid(now() - interval '24 hours') AS id`,
    );
    // Passing the id as a value prunes all other partitions before they are locked.
    const { rows } = await pool.query<{ count: number }>(
      `SELECT count(*)::integer AS count FROM deliveries
       WHERE state = 'pending' AND id >= $1 AND next_attempt_at < now() + interval '24 hours'`,
      [least.rows[0]?.id],
    );
    return rows[0]?.count ?? 0;
  }

  /** Waits until everything is recorded, and new events go to the queue at once. */
  async quiet(): Promise<void> {
    await eventually(async () => (await this.pending()) === 0, Boolean, {
      what: 'nothing is pending',
      ms: 120_000,
    });
    const marked = () => this.database.pool.query('SELECT FROM webhooks WHERE backlog');
    await eventually(async () => (await marked()).rowCount === 0, Boolean, {
      what: 'no backlog is marked',
    });
  }

  /** The peak memory of an API and a worker, in MB. */
  memory(when?: 'now' | 'peak'): { api: number; worker: number } {
    const most = (processes: readonly ServiceProcess[]) =>
      Math.max(...processes.map((one) => one.memory(when)));
    return { api: most(this.apis), worker: most(this.workers) };
  }

  /** One request of a customer or of the platform. */
  async call(
    method: 'POST' | 'DELETE',
    path: string,
    authorization: string,
    body?: object,
  ): Promise<{ href: string }> {
    const answer = await request(`http://127.0.0.1:${String(this.apis[0]?.port)}${path}`, {
      method,
      headers: { authorization, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`${method} ${path}: ${text}`);
    return JSON.parse(text) as { href: string };
  }
}

/**
 * An event of 1 KB that contains its due time. @param source see {@link Account}
 */
export function eventText(id: string, source: string, dueAt = now()): string {
  return (
    `{"id":"${id}","event":"cdrCreated","resource":"call",${source},` +
    `"data":{"sent":${String(dueAt)},"text":"${FILLING}"}}`
  );
}

function idIn(href: string): string {
  return href.slice(href.lastIndexOf('/') + 1);
}

function authorizationOf(pair: string): string {
  return `Basic ${Buffer.from(pair).toString('base64')}`;
}
