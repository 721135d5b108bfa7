import type { Socket } from 'node:net';
import pg, { type Client } from 'pg';
import { codeOf, isAway } from './database-errors.js';
import { ReadOnlyDatabaseError } from './needed-settings.js';
import type { PostgresAddress } from './postgres-address.js';

/** How long a request waits for a connection before PostgreSQL counts as unavailable. */
export const CONNECT_TIMEOUT_MS = 3_000;

/** How old answers may be that choose the host of a new connection. A process asks more often than that. */
const FRESH_MS = 10_000;

const TAKES_WRITES = {
  primary: 'NOT pg_is_in_recovery()',
  'read-write': `NOT current_setting('transaction_read_only')::boolean`,
};

/**
 * The name of the WAL file has the new timeline from the moment of a promotion on; pg_control_checkpoint() has it only
 * after the next checkpoint. Several proxies may lead to the same server.
 */
const WHICH_PRIMARY = `
SELECT concat(system_identifier, pg_postmaster_start_time()) AS server, system_identifier::text AS system,
  ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::integer AS timeline
FROM pg_control_system() WHERE NOT pg_is_in_recovery()`;

/** A server that takes writes. */
interface Primary {
  server: string;
  /** Copies have it in common. */
  system: string;
  /** Each promotion begins a new one, with a higher number. */
  timeline: number;
}

/** A standby was promoted in its place. */
class OldPrimaryError extends ReadOnlyDatabaseError {}

type Answer = Primary | Error;

const ignore = (): void => undefined;

/**
 * The hosts of an address, and which of them to use. If there are several, and not just any will do, it asks all of them
 * whether they take writes, and at what timeline. An old primary that was started again has a lower one than the standby
 * that was promoted. The highest one is remembered, and a lower one is never used again, although its host may be the
 * only one that answers.
 */
export class PostgresHosts {
  /** How long one host may take to answer: connecting shares its timeout among them. */
  readonly timeoutMs: number;
  private readonly isAsking: boolean;
  /** The last fit host. New connections start with it, so that they do not wait for a dead one each time. */
  private start = 0;
  private answers: readonly Answer[] = [];
  private answeredAt = -Infinity;
  private asked: Promise<void> | undefined;
  private newest: Primary | undefined;
  private readonly open = new Map<Client, { index: number; primary: Primary }>();

  constructor(readonly address: PostgresAddress) {
    const { urls, target } = address;
    this.timeoutMs = Math.ceil(CONNECT_TIMEOUT_MS / urls.length);
    this.isAsking = urls.length > 1 && target !== 'any';
  }

  /** The hosts to try, in this order. @throws why none can be used */
  async *candidates(): AsyncGenerator<number, void> {
    if (!this.isAsking) {
      yield* this.inOrder();
      return;
    }
    if (performance.now() - this.answeredAt < FRESH_MS && this.best !== undefined) yield this.best;
    await this.ask();
    if (this.best === undefined) throw this.failure();
    yield this.best;
  }

  /** Closes connections to a host if another one turns out to have a higher timeline. Never rejects. */
  async ask(): Promise<void> {
    if (!this.isAsking) return;
    this.asked ??= this.askAll().finally(() => {
      this.asked = undefined;
    });
    await this.asked;
  }

  /** Judges a new connection. @throws ReadOnlyDatabaseError if it may not be used */
  async admit(client: Client, index: number): Promise<void> {
    const { target } = this.address;
    if (this.isAsking) {
      const primary = await this.question(client);
      this.learn([primary]);
      if (this.isOld(primary)) throw this.oldError(index, primary);
      this.open.set(client, { index, primary });
      client.once('end', () => this.open.delete(client));
    } else if (target !== 'any') {
      const text = `SELECT ${TAKES_WRITES[target]} AS "isFit"`;
      const { rows } = await client.query<{ isFit: boolean }>(text);
      if (!rows[0]?.isFit) throw takesNone();
    }
    this.start = index;
  }

  /** How many servers take writes, if they are asked. */
  get primaries(): number | undefined {
    return this.isAsking ? this.servers().size : undefined;
  }

  /** Which servers take writes, if several do. */
  get conflict(): string | undefined {
    const servers = [...this.servers().values()];
    if (servers.length < 2) return undefined;
    const list = servers.map(
      ([index, { timeline }]) => `${this.nameOf(index)} at timeline ${String(timeline)}`,
    );
    const { best } = this;
    const used = best === undefined ? 'none of them' : `only ${this.nameOf(best)}`;
    return `several hosts of PostgreSQL take writes: ${list.join(', ')}; ${used} is used`;
  }

  /** The one with the highest timeline. */
  private get best(): number | undefined {
    const fit = this.inOrder().flatMap((index) => {
      const answer = this.answers[index];
      const isFit = answer !== undefined && !(answer instanceof Error) && !this.isOld(answer);
      return isFit ? [{ index, timeline: answer.timeline }] : [];
    });
    // Stable, so that the host in use stays the first among equals.
    return fit.sort((one, other) => other.timeline - one.timeline)[0]?.index;
  }

  private inOrder(): number[] {
    const { urls } = this.address;
    return urls.map((_, place) => (this.start + place) % urls.length);
  }

  private servers(): Map<string, [index: number, primary: Primary]> {
    const servers = new Map<string, [number, Primary]>();
    for (const [index, answer] of this.answers.entries()) {
      if (!(answer instanceof Error)) servers.set(answer.server, [index, answer]);
    }
    return servers;
  }

  private async askAll(): Promise<void> {
    const answers = await Promise.all(this.address.urls.map((_, index) => this.askOne(index)));
    this.answers = answers;
    this.answeredAt = performance.now();
    this.learn(answers.flatMap((answer) => (answer instanceof Error ? [] : [answer])));
  }

  /** A host in use has answered: it cannot become a standby without ending its connections. */
  private async askOne(index: number): Promise<Answer> {
    for (const one of this.open.values()) if (one.index === index) return one.primary;
    const { urls, ssl } = this.address;
    const client = new pg.Client({ connectionString: urls[index], ssl });
    client.on('error', ignore);
    try {
      const answer = await inTime(client, this.timeoutMs, async () => {
        await client.connect();
        return this.question(client);
      });
      void client.end().catch(ignore);
      return answer;
    } catch (error) {
      abandon(client);
      return error instanceof Error ? error : new Error(String(error));
    }
  }

  private async question(client: Client): Promise<Primary> {
    const { target } = this.address;
    const and = target === 'read-write' ? ` AND ${TAKES_WRITES[target]}` : '';
    const [primary] = (await client.query<Primary>(WHICH_PRIMARY + and)).rows;
    if (primary === undefined) throw takesNone();
    return primary;
  }

  /** What is still written to a server that another one has replaced would be lost. */
  private learn(primaries: readonly Primary[]): void {
    for (const primary of primaries) {
      const { system, timeline } = this.newest ?? {};
      if (primary.system !== system || primary.timeline > (timeline ?? 0)) this.newest = primary;
    }
    for (const [client, { index, primary }] of this.open) {
      if (!this.isOld(primary)) continue;
      this.open.delete(client);
      const { message } = this.oldError(index, primary);
      streamOf(client).destroy(new Error(`Connection terminated: ${message}`));
    }
  }

  /** A database of another system is a new one. */
  private isOld({ system, timeline }: Primary): boolean {
    const { newest } = this;
    return newest !== undefined && system === newest.system && timeline < newest.timeline;
  }

  private oldError(index: number, { timeline }: Primary): OldPrimaryError {
    const newest = String(this.newest?.timeline);
    return new OldPrimaryError(
      `${this.nameOf(index)} has timeline ${String(timeline)} of PostgreSQL, but another host has timeline ${newest}`,
    );
  }

  private failure(): Error {
    const errors = this.answers.map((answer, index) =>
      answer instanceof Error ? answer : this.oldError(index, answer),
    );
    return errors.find((error): boolean => !isPassedOver(error)) ?? errorOf(errors);
  }

  private nameOf(index: number): string {
    const client = new pg.Client({ connectionString: this.address.urls[index] });
    return `${client.host}:${String(client.port)}`;
  }
}

const takesNone = () => new ReadOnlyDatabaseError('PostgreSQL takes no writes');

/** A refused login and a lack of connections are reported, because another host would only hide them. */
export function isPassedOver(error: unknown): error is Error {
  return error instanceof Error && isAway(error) && !codeOf(error).startsWith('53');
}

/** Combines the errors of all hosts into one. */
export function errorOf(errors: readonly Error[]): Error {
  const [only, other] = errors;
  if (only && !other) return only;
  const cause = new AggregateError(errors, errors.map(({ message }) => message).join('; '));
  const old = errors.find((error) => error instanceof OldPrimaryError);
  if (old) return new OldPrimaryError(old.message, { cause });
  return errors.some((error) => error instanceof ReadOnlyDatabaseError)
    ? new ReadOnlyDatabaseError('no host of PostgreSQL takes writes', { cause })
    : cause;
}

/** Destroys the client's connection if the work takes too long. */
export async function inTime<Result>(
  client: Client,
  timeoutMs: number,
  work: () => Promise<Result>,
): Promise<Result> {
  const timer = setTimeout(() => {
    const host = `${client.host}:${String(client.port)}`;
    const message = `Connection terminated: no answer from ${host} within ${String(timeoutMs)} ms`;
    streamOf(client).destroy(new Error(message));
  }, timeoutMs);
  try {
    return await work();
  } finally {
    clearTimeout(timer);
  }
}

export function abandon(client: Client): void {
  connectionOf(client).removeAllListeners().on('error', ignore);
  streamOf(client).destroy();
}

export function streamOf(client: Client): Socket {
  return connectionOf(client).stream as Socket;
}

function connectionOf(client: Client): pg.Connection {
  return (client as unknown as { connection: pg.Connection }).connection;
}
