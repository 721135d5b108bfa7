import { Log, readConfig, Tracing } from '#libs/runtime';
import type { TargetAnswer } from '../../libs/webhooks/src/domain/target-client.js';
import { OutboundDialer } from '../../libs/webhooks/src/infrastructure/outbound-dialer.js';
import { TargetResolver } from '../../libs/webhooks/src/infrastructure/target-resolver.js';
import { UndiciTargetClient } from '../../libs/webhooks/src/infrastructure/undici-target.client.js';
import type { Environment } from './processes.js';

/** What a worker calls targets with, without the worker. */
export interface TestTargetClient {
  resolver: TargetResolver;
  post: (url: string, timeoutMs?: number) => Promise<TargetAnswer>;
  close: () => Promise<void>;
}

/** @param environment further variables, such as `DELIVERY_ALLOWED_NETWORKS` */
export function aTargetClient(environment: Environment = {}): TestTargetClient {
  const config = readConfig({ DATABASE_URL: 'unused', LOG_LEVEL: 'silent', ...environment });
  const resolver = new TargetResolver();
  const dialer = new OutboundDialer(resolver, new Log(config, 'test'), config);
  const client = new UndiciTargetClient(dialer, new Tracing());
  return {
    resolver,
    post: (url, timeoutMs = 5_000) => {
      const headers = { 'content-type': 'application/json' };
      return client.post({ url, headers, body: '{}', timeoutMs });
    },
    close: async () => {
      await client.onApplicationShutdown();
      resolver.onApplicationShutdown();
    },
  };
}
