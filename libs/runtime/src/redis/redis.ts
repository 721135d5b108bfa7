import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { type Config, CONFIG } from '../config/config.js';
import { Log } from '../logging/log.js';
import { redisAddressOf } from './redis-address.js';
import { RefusalLog } from './refusal-log.js';

/** Errors of ioredis without a connection, and of Redis while it starts or fails over. */
const UNAVAILABLE = [
  'connection is closed',
  "stream isn't writeable",
  'max retries per request',
  'command timed out',
  'socket timeout',
  "cluster isn't ready",
  'none of startup nodes',
  'failed to refresh slots cache',
  '^(?:LOADING|READONLY|CLUSTERDOWN|MASTERDOWN|TRYAGAIN) ',
];
const UNAVAILABLE_TEXT = new RegExp(UNAVAILABLE.join('|'), 'i');

/** Whether Redis could not be reached, or is starting or failing over. */
export function isRedisUnavailable(error: unknown): boolean {
  return error instanceof Error && UNAVAILABLE_TEXT.test(error.message);
}

const CONNECT_TIMEOUT_MS = 5_000;
const READY_MS = 1_000;
const COMMAND_TIMEOUT_MS = 5_000;
const LONGEST_RETRY_MS = 1_000;
/** How many nodes a command tries, 100 ms apart while none has its slot. By default 16, longer than a health check. */
const MOST_REDIRECTIONS = 4;
/** Redis answers a consumer that waits for a job every 5 s. */
const SOCKET_TIMEOUT_MS = 12_000;

/**
 * The purpose of a connection. Each fails at once while Redis is unavailable, so that commands do not pile up
 * in memory. `limits` also never resends a command. `blocking` has no timeout, because its commands wait for
 * jobs, and fails as soon as its connection breaks.
 */
type RedisUse = 'commands' | 'limits' | 'blocking';

/** One connection to a server, or one to each node of a cluster. */
export type RedisConnection = Redis | Cluster;

/** Opens a connection that reconnects automatically. */
export function connectRedis(config: Config, use: RedisUse): RedisConnection {
  const connection = connectionOf(config, use);
  // Commands fail by themselves; without a listener, ioredis would print every attempt.
  connection.on('error', () => undefined);
  runScriptsPlainly(connection);
  return connection;
}

/** The connection, once it is ready. @throws after a second */
export async function readyRedis(connection: RedisConnection): Promise<RedisConnection> {
  if (connection.status !== 'ready') {
    await once(connection, 'ready', { signal: AbortSignal.timeout(READY_MS) });
  }
  return connection;
}

function connectionOf(config: Config, use: RedisUse): RedisConnection {
  const address = redisAddressOf(config.REDIS_URL, config.REDIS_PASSWORD);
  if (!address) throw new Error('REDIS_URL was not validated');
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
  return new Cluster([...nodes], {
    redisOptions: secured,
    enableOfflineQueue: options.enableOfflineQueue,
    clusterRetryStrategy: retryDelay,
    maxRedirections: MOST_REDIRECTIONS,
    // A node's certificate is issued for its name, not for its address.
    dnsLookup: (name, callback) => callback(null, name),
  });
}

const retryDelay = (times: number): number => Math.min(times * 50, LONGEST_RETRY_MS);

function optionsFor(use: RedisUse) {
  return {
    connectTimeout: CONNECT_TIMEOUT_MS,
    retryStrategy: retryDelay,
    maxRetriesPerRequest: use === 'blocking' ? 0 : 1,
    // By then the caller of a limit has continued without the answer.
    autoResendUnfulfilledCommands: use !== 'limits',
    enableOfflineQueue: false,
    // Without it, a half-open connection would stay unnoticed for hours.
    socketTimeout: SOCKET_TIMEOUT_MS,
    // A network that drops all packets must not block callers that add to a queue.
    ...(use !== 'blocking' && { commandTimeout: COMMAND_TIMEOUT_MS }),
    // After a failover the old primary answers READONLY: reconnect to the new one.
    reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
  } satisfies RedisOptions;
}

type Script = (this: unknown, ...args: Argument[] | [Argument[]]) => Promise<unknown>;
type Argument = string | number | Buffer;

/**
 * Runs the scripts of a connection with EVALSHA or EVAL instead of ioredis' command objects, each of which has a
 * function that V8 creates in the old generation and that retains the job until a full garbage collection.
 * Pipelines still use those.
 */
function runScriptsPlainly(connection: Redis | Cluster): void {
  const define = connection.defineCommand.bind(connection);
  const scripts = connection as unknown as Record<string, Script>;
  const defineCommand: typeof define = (name, definition) => {
    define(name, definition);
    const { lua, numberOfKeys } = definition;
    const inPipeline = scripts[name]!;
    if (numberOfKeys === undefined) return;
    const sha = createHash('sha1').update(lua).digest('hex');
    const run: Script = async function (...args) {
      if (this !== connection) return inPipeline.apply(this, args);
      const given = args.flat();
      try {
        return await connection.evalsha(sha, numberOfKeys, ...given);
      } catch (error) {
        if (!(error as Error).message.startsWith('NOSCRIPT')) throw error;
        return connection.eval(lua, numberOfKeys, ...given);
      }
    };
    scripts[name] = run;
  };
  connection.defineCommand = defineCommand;
}

/** Whether Redis does what this process cannot do without. */
export abstract class RedisHealth {
  /** @throws UnusableRedisError if Redis refuses it; the error of the connection */
  abstract check(): Promise<void>;
}

/** How long Redis is skipped after it was unavailable or slow. */
const SKIP_MS = 1_000;

/** Counters that all processes share while Redis answers within a quarter of a second. */
@Injectable()
export class RedisLimits implements OnApplicationShutdown {
  /** In ms. Connection timeouts are not enough, because they add up in a cluster. */
  protected readonly waitMs: number = 250;
  private readonly redis: RedisConnection;
  private readonly refusals: RefusalLog;
  private skipUntil = -Infinity;

  constructor(@Inject(CONFIG) config: Config, log: Log) {
    this.refusals = new RefusalLog('rates and login failures of all processes', log);
    this.redis = connectRedis(config, 'limits');
  }

  /**
   * Runs a Lua script on one key, atomically and in one round trip.
   * @returns the script's result; undefined if Redis is unavailable or slow, or refuses it
   */
  async run(lua: string, key: string, values: readonly (string | number)[]): Promise<unknown> {
    if (performance.now() < this.skipUntil) return undefined;
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<undefined>((resolve) => {
      timer = setTimeout(resolve, this.waitMs, undefined);
    });
    const result = this.redis.eval(lua, 1, key, ...values).catch((error: unknown) => {
      this.refusals.failed(error);
      return undefined;
    });
    const answer = await Promise.race([result, timeout]);
    clearTimeout(timer);
    if (answer !== undefined) this.refusals.worked();
    if (answer === undefined) this.skipUntil = performance.now() + SKIP_MS;
    return answer;
  }

  onApplicationShutdown(): void {
    this.redis.disconnect();
  }
}
