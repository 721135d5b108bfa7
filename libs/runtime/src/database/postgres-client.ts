import pg, { type ClientConfig } from 'pg';
import type { PostgresAddress } from './postgres-address.js';
import { abandon, errorOf, inTime, isPassedOver, PostgresHosts } from './postgres-hosts.js';

const ignore = (): void => undefined;

/**
 * The driver's client for one address. Connecting tries its hosts until one is fit: a host that is down, too slow or a
 * standby is passed over, but not one that refuses the login. They share the timeout.
 */
export function clientFor(
  address: PostgresAddress,
  hosts = new PostgresHosts(address),
): new (options?: ClientConfig) => pg.Client {
  const { urls, ssl } = address;

  return class extends pg.Client {
    constructor(private readonly given: ClientConfig = {}) {
      super(configOf(given, 0));
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
      for await (const index of hosts.candidates()) {
        if (urls.length > 1) this.renew(configOf(this.given, index));
        try {
          await inTime(this, hosts.timeoutMs, async () => {
            await super.connect();
            await hosts.admit(this, index);
          });
          return;
        } catch (error) {
          abandon(this);
          if (!isPassedOver(error)) throw error;
          errors.push(error);
        }
      }
      throw errorOf(errors);
    }

    /**
     * The pool knows this object already, so it takes over the state of a new one. It keeps its listeners: by one of
     * them, the pool notices that an idle connection was lost.
     */
    private renew(config: ClientConfig): void {
      const state = Object.entries(new pg.Client(config));
      Object.assign(this, Object.fromEntries(state.filter(([key]) => !key.startsWith('_events'))));
    }
  };

  function configOf(options: ClientConfig, index: number): ClientConfig {
    return { ...options, connectionString: urls[index], ssl, connectionTimeoutMillis: 0 };
  }
}
