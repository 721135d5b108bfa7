import pg, { type ClientConfig } from 'pg';
import { codeOf, isAway } from './database-errors.js';
import { ReadOnlyDatabaseError } from './needed-settings.js';
import type { PostgresAddress, TargetSession } from './postgres-address.js';

/** How long a request waits for a connection before PostgreSQL counts as unavailable. */
export const CONNECT_TIMEOUT_MS = 3_000;

const IS_UNFIT: Readonly<Record<TargetSession, string | undefined>> = {
  any: undefined,
  primary: 'SELECT pg_is_in_recovery() AS "isUnfit"',
  'read-write': `SELECT current_setting('transaction_read_only')::boolean AS "isUnfit"`,
};

const ignore = (): void => undefined;

/**
 * The driver's client for one address. Connecting tries its hosts in order until one is fit, like libpq: a host that
 * is down, too slow or a standby is passed over, but not one that refuses the login. They share the timeout.
 */
export function clientFor({
  urls,
  target,
  ssl,
}: PostgresAddress): new (options?: ClientConfig) => pg.Client {
  const timeoutMs = Math.ceil(CONNECT_TIMEOUT_MS / urls.length);
  /** The last fit host. New connections start with it, so that they do not wait for a dead one each time. */
  let start = 0;

  return class extends pg.Client {
    private readonly hosts: readonly { index: number; config: ClientConfig }[];

    constructor(options: ClientConfig = {}) {
      const hosts = urls.map((_, place) => {
        const index = (start + place) % urls.length;
        const config = { ...options, connectionString: urls[index], ssl };
        return { index, config: { ...config, connectionTimeoutMillis: 0 } };
      });
      super(hosts[0]?.config);
      this.hosts = hosts;
      this.on('error', ignore);
    }

    override connect(): Promise<this>;
    override connect(callback: (error: Error | null) => void): void;
    override connect(callback?: (error: Error | null) => void): Promise<this> | undefined {
      const connected = this.connectToFit().then(() => this);
      if (!callback) return connected;
      void connected.then(() => callback(null), callback);
      return undefined;
    }

    private async connectToFit(): Promise<void> {
      const errors: Error[] = [];
      for (const [place, { index, config }] of this.hosts.entries()) {
        if (place > 0) this.renew(config);
        try {
          await this.connectToOne();
          start = index;
          return;
        } catch (error) {
          this.abandon();
          if (!isPassedOver(error)) throw error;
          errors.push(error);
        }
      }
      throw errorOf(errors);
    }

    private async connectToOne(): Promise<void> {
      const timer = setTimeout(() => {
        const host = `${this.host}:${String(this.port)}`;
        const message = `Connection terminated: no answer from ${host} within ${String(timeoutMs)} ms`;
        this.connection.stream.destroy(new Error(message));
      }, timeoutMs);
      try {
        await super.connect();
        const text = IS_UNFIT[target];
        if (text === undefined) return;
        const { rows } = await this.query<{ isUnfit: boolean }>(text);
        if (rows[0]?.isUnfit) throw new ReadOnlyDatabaseError('PostgreSQL takes no writes');
      } finally {
        clearTimeout(timer);
      }
    }

    /** The pool knows this object already, so it takes over the state of a new one. */
    private renew(config: ClientConfig): void {
      Object.assign(this, new pg.Client(config));
      this.on('error', ignore);
    }

    private abandon(): void {
      this.connection.removeAllListeners().on('error', ignore);
      this.connection.stream.destroy();
    }
  };
}

/** A refused login and a lack of connections are reported, because another host would only hide them. */
function isPassedOver(error: unknown): error is Error {
  return error instanceof Error && isAway(error) && !codeOf(error).startsWith('53');
}

function errorOf(errors: readonly Error[]): Error {
  const [only, other] = errors;
  if (only && !other) return only;
  const cause = new AggregateError(errors, errors.map(({ message }) => message).join('; '));
  return errors.some((error) => error instanceof ReadOnlyDatabaseError)
    ? new ReadOnlyDatabaseError('no host of PostgreSQL takes writes', { cause })
    : cause;
}
