import { Dialer, NameResolver, OutboundClient, OutboundPolicy } from '#libs/outbound';
import { HostResources, Log, Metrics, readConfig, Tracing } from '#libs/runtime';
import type { Environment } from './environment.js';

/** The worker's HTTP client for targets, without the worker. */
export interface TestTargetClient {
  resolver: NameResolver;
  post: (
    url: string,
    timeoutMs?: number,
    change?: { accountId?: string; body?: string },
  ) => ReturnType<OutboundClient['post']>;
  close: () => Promise<void>;
}

/** @param environment further variables, such as `DELIVERY_ALLOWED_NETWORKS` */
export function aTargetClient(environment: Environment = {}): TestTargetClient {
  const config = readConfig({
    DATABASE_URL: 'postgres://unused',
    LOG_LEVEL: 'silent',
    ...environment,
  });
  const resolver = new NameResolver();
  const log = new Log(config, 'test');
  const metrics = new Metrics();
  const host = new HostResources(metrics, log);
  const dialer = new Dialer(resolver, new OutboundPolicy(config), host, log, metrics, config);
  const client = new OutboundClient(dialer, new Tracing(), config);
  return {
    resolver,
    post: (url, timeoutMs = 5_000, change = {}) => {
      const headers = { 'content-type': 'application/json' };
      return client.post({ accountId: '1', url, headers, body: '{}', timeoutMs, ...change });
    },
    close: async () => {
      await client.onApplicationShutdown();
      resolver.onApplicationShutdown();
    },
  };
}
