import { Redis } from 'ioredis';
import type { Config } from '../config/config.js';

const CONNECT_TIMEOUT_MS = 5_000;
const COMMAND_TIMEOUT_MS = 5_000;
const LONGEST_RETRY_MS = 1_000;
/** A consumer that waits for a job hears from Redis every 5 s. */
const SILENCE_MS = 12_000;

/**
 * What a connection is for. `commands`: fails at once while Redis is away, so that nothing piles
 * up in memory. `blocking`: waits for ever, as a consumer must.
 */
export type RedisUse = 'commands' | 'blocking';

/** A connection to Redis that comes back by itself; errors are the caller's to listen for. */
export function connectRedis(config: Config, use: RedisUse): Redis {
  return new Redis(config.REDIS_URL, {
    connectTimeout: CONNECT_TIMEOUT_MS,
    retryStrategy: (times) => Math.min(times * 50, LONGEST_RETRY_MS),
    // Bull refuses blocking connections with a ready check or a bound on retries.
    enableReadyCheck: use === 'commands',
    maxRetriesPerRequest: use === 'commands' ? 1 : null,
    enableOfflineQueue: use === 'blocking',
    // A connection whose other end vanished is noticed by nobody else for hours.
    socketTimeout: SILENCE_MS,
    // A link that swallows everything must not hold up whoever adds to a queue.
    ...(use === 'commands' && { commandTimeout: COMMAND_TIMEOUT_MS }),
    // A Redis that failed over answers READONLY: connect anew, to the new primary.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
  });
}
