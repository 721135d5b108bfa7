import { Cluster, Redis, type RedisOptions } from 'ioredis';
import type { Config } from '../config/config.js';
import { redisAddressOf } from './redis-address.js';

const CONNECT_TIMEOUT_MS = 5_000;
const COMMAND_TIMEOUT_MS = 5_000;
const LONGEST_RETRY_MS = 1_000;
/** A consumer that waits for a job hears from Redis every 5 s. */
const SILENCE_MS = 12_000;

/**
 * What a connection is for. `commands`: fails at once while Redis is away, so that nothing piles
 * up in memory. `limits`: so too, and what is not answered is not asked again. `blocking`: waits
 * for ever, as a consumer must.
 */
export type RedisUse = 'commands' | 'limits' | 'blocking';

/** A way to Redis: one connection to a server, or one to each node of a cluster. */
export type RedisConnection = Redis | Cluster;

/** A way to Redis that comes back by itself; errors are the caller's to listen for. */
export function connectRedis(config: Config, use: RedisUse): RedisConnection {
  const address = redisAddressOf(config.REDIS_URL);
  if (!address) throw new Error('the configuration was read without a look at REDIS_URL');
  const options = optionsFor(use);
  if (address.kind === 'server') return new Redis(address.url, options);
  const { nodes, login, tls } = address;
  const secured = { ...options, ...login, ...(tls && { tls: {} }) };
  if (address.kind === 'sentinel') {
    const { REDIS_SENTINEL_PASSWORD: sentinelPassword } = config;
    return new Redis({
      ...secured,
      sentinels: [...nodes],
      name: address.name,
      db: address.db,
      sentinelRetryStrategy: retryDelay,
      ...(sentinelPassword !== undefined && { sentinelPassword }),
      ...(tls && { enableTLSForSentinelMode: true, sentinelTLS: {} }),
    });
  }
  const { enableReadyCheck, enableOfflineQueue } = options;
  return new Cluster([...nodes], {
    redisOptions: secured,
    enableReadyCheck,
    enableOfflineQueue,
    clusterRetryStrategy: retryDelay,
    // A node's name, and not its address, is what its certificate is for.
    dnsLookup: (name, callback) => callback(null, name),
  });
}

const retryDelay = (times: number): number => Math.min(times * 50, LONGEST_RETRY_MS);

function optionsFor(use: RedisUse) {
  return {
    connectTimeout: CONNECT_TIMEOUT_MS,
    retryStrategy: retryDelay,
    // Bull refuses blocking connections with a ready check or a bound on retries.
    enableReadyCheck: use !== 'blocking',
    maxRetriesPerRequest: use === 'blocking' ? null : 1,
    // Whoever asked has gone on meanwhile.
    autoResendUnfulfilledCommands: use !== 'limits',
    enableOfflineQueue: use === 'blocking',
    // A connection whose other end vanished is noticed by nobody else for hours.
    socketTimeout: SILENCE_MS,
    // A link that swallows everything must not hold up whoever adds to a queue.
    ...(use !== 'blocking' && { commandTimeout: COMMAND_TIMEOUT_MS }),
    // A Redis that failed over answers READONLY: connect anew, to the new primary.
    reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
  } satisfies RedisOptions;
}
