import { createSecretKey } from 'node:crypto';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { redisAddressOf } from '../redis/redis-address.js';
import type { SecretKey } from '../secrets/secret-box.js';

/** One CIDR block, parsed: an address and the length of its prefix in bits. */
export type Network = [ipaddr.IPv4 | ipaddr.IPv6, number];

const wholeNumber = (min: number, max: number, byDefault: number) =>
  z.coerce.number().int().min(min).max(max).default(byDefault);

/** A comma-separated list; what is between two commas may be blank. */
const list = <Item>(must: string, read: (item: string) => Item | undefined) =>
  z
    .string()
    .default('')
    .transform((text, context): Item[] => {
      const items: Item[] = [];
      for (const part of text.split(',').map((one) => one.trim())) {
        if (part === '') continue;
        const item = read(part);
        if (item === undefined) {
          context.addIssue({
            code: 'custom',
            message: `must be a comma-separated list of ${must}`,
          });
          return z.NEVER;
        }
        items.push(item);
      }
      return items;
    });

const blocks = list('CIDR blocks', (item): Network | undefined => {
  const [, address = '', prefix] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(item) ?? [];
  // ipaddr.js reads 10/8 as 0.0.0.10/8, and 010.0.0.0/8 as 8.0.0.0/8.
  const family = isIP(address);
  const most = family === 4 ? 32 : 128;
  const bits = Number(prefix ?? most);
  return family === 0 || bits > most ? undefined : [ipaddr.parse(address), bits];
});

/** Whoever writes 10.0.0.1/8 may mean the address alone, and would get sixteen million of them. */
const networks = blocks.transform((given, context): Network[] => {
  for (const [address, bits] of given) {
    const written = `${address.toString()}/${String(bits)}`;
    const family = address.kind() === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6;
    const network = `${family.networkAddressFromCIDR(written).toString()}/${String(bits)}`;
    if (network === written) continue;
    context.addIssue({
      code: 'custom',
      message: `must have no bits behind the prefix of a block: ${network} was probably meant`,
    });
  }
  return given;
});

const ports = list('ports from 1 to 1023', (item): number | undefined =>
  /^[1-9]\d{0,3}$/.test(item) && Number(item) < 1_024 ? Number(item) : undefined,
);

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const MAX_DELAY_MS = 7 * UNIT_MS.d;

/** Delays in ms, from a text such as `5s,30s,5m,2h`; empty means no retry. */
const delays = z
  .string()
  .default('5s,30s,5m,30m,2h,5h,10h,14h,20h,24h')
  .transform((text, context): number[] => {
    if (text.trim() === '') return [];
    return text.split(',').map((item) => {
      const match = /^(\d{1,9})(ms|s|m|h|d)$/.exec(item.trim());
      const delay = match ? Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS] : NaN;
      if (!(delay >= 0 && delay <= MAX_DELAY_MS)) {
        context.addIssue({
          code: 'custom',
          message: 'must be a comma-separated list such as 5s,30s,5m,2h; each at most 7d',
        });
        return z.NEVER;
      }
      return delay;
    });
  });

/** What an account may ask: `quota` requests in `windowMs`. */
export interface RateLimit {
  quota: number;
  windowMs: number;
}

const MAX_QUOTA = 100_000;

/** A rate such as `600/m`. */
const rate = z.string().transform((text, context): RateLimit => {
  const [, quota = '', unit = 's'] = /^(\d{1,6})\/([smh])$/.exec(text.trim()) ?? [];
  if (Number(quota) >= 1 && Number(quota) <= MAX_QUOTA) {
    return { quota: Number(quota), windowMs: UNIT_MS[unit as 's' | 'm' | 'h'] };
  }
  context.addIssue({
    code: 'custom',
    message: `must be a number of requests from 1 to ${String(MAX_QUOTA)} and a unit: 10/s, 600/m or 36000/h`,
  });
  return z.NEVER;
});

/** Origins as browsers write them: scheme, host, and a port that is not the scheme's own. */
const origins = z
  .string()
  .default('')
  .transform((text, context): string[] => {
    const list = text.split(',').map((item) => item.trim());
    const given = list.filter((item) => item !== '');
    if (!given.every(isOrigin)) {
      context.addIssue({
        code: 'custom',
        message: 'must be a comma-separated list of origins such as https://app.example.com',
      });
    }
    return given;
  });

const ORIGIN = /^https?:\/\/(?:[a-z0-9.-]+|\[[0-9a-f:]+\])(?::\d+)?$/;
const isOrigin = (text: string): boolean =>
  ORIGIN.test(text) && URL.canParse(text) && new URL(text).origin === text;

/** An id, and 32 bytes in Base64. */
const SECRET_KEY = /^([\w-]{1,32}):([A-Za-z0-9+/]{43}=)$/;

/** A message names a key by its place: what stands there may be the key itself. */
const secretKeys = z
  .string()
  .default('')
  .transform((text, context): SecretKey[] => {
    if (text.trim() === '') return [];
    const keys: SecretKey[] = [];
    for (const [index, item] of text.split(',').entries()) {
      const [, id = '', base64] = SECRET_KEY.exec(item.trim()) ?? [];
      const isKnown = keys.some((key) => key.id === id);
      if (base64 === undefined || isKnown) {
        const fault = isKnown ? 'repeats an id' : 'must be an id, a colon and 32 bytes in Base64';
        context.addIssue({ code: 'custom', message: `key ${index + 1} ${fault}` });
        return z.NEVER;
      }
      keys.push({ id, key: createSecretKey(base64, 'base64') });
    }
    return keys;
  });

const onOff = z.enum(['true', 'false']).transform((value) => value === 'true');

const baseUrl = z
  .url({ protocol: /^https?$/ })
  .transform((url) => url.replace(/\/+$/, ''))
  .optional();

const schema = z.object({
  DATABASE_URL: z.string().min(1).describe('PostgreSQL, 15 or later'),
  DATABASE_POOL_SIZE: wholeNumber(2, 500, 10).describe('connections of one process at the most'),
  DATABASE_PREPARED_STATEMENTS: onOff
    .prefault('true')
    .describe('`false` behind PgBouncer in transaction mode'),
  MIGRATION_DATABASE_URL: z
    .string()
    .optional()
    .describe('a direct connection for `migrate`, where `DATABASE_URL` is a pooler'),
  DATABASE_API_ROLE: z
    .string()
    .optional()
    .describe('the role of the API: `migrate` gives it the rights that it needs, and no others'),
  DATABASE_WORKER_ROLE: z.string().optional().describe('the same for the worker'),
  REDIS_URL: z
    .string()
    .default('redis://127.0.0.1:6379')
    .refine(
      (text) => redisAddressOf(text) !== undefined,
      'must be redis://host, redis+cluster://host,host or redis+sentinel://host,host/name',
    )
    .describe('Redis, 6.2 or later; `rediss://` for TLS, `redis+cluster://`, `redis+sentinel://`'),
  REDIS_SENTINEL_PASSWORD: z.string().optional().describe('of the sentinels themselves'),
  HOST: z.string().default('0.0.0.0').describe('address to listen on'),
  PORT: wholeNumber(0, 65_535, 3000).describe('port of the API'),
  WORKER_PORT: wholeNumber(0, 65_535, 3001).describe("port of the worker's health"),
  METRICS_PORT: wholeNumber(0, 65_535, 0).describe('port of the metrics; 0: none are served'),
  SHUTDOWN_DELAY_MS: wholeNumber(0, 15_000, 3_000).describe(
    'how long an API that is told to end still accepts requests',
  ),
  PUBLIC_BASE_URL: baseUrl.describe('what every `href` starts with; else taken from the request'),
  TRUSTED_PROXIES: networks.describe('CIDR list whose forwarded headers count'),
  CORS_ORIGINS: origins.describe('origins of web pages that may call the API, comma-separated'),
  MAX_BODY_BYTES: wholeNumber(1_024, 64 << 20, 256 << 10).describe('of a request body'),
  MAX_BATCH_BYTES: wholeNumber(1_024, 64 << 20, 8 << 20).describe('of the body of an event batch'),
  RATE_LIMIT: rate
    .prefault('60000/m')
    .describe('requests of an account, such as `10/s`, `600/m` or `36000/h`'),
  MAX_CONNECTIONS: wholeNumber(1, 1_000_000, 10_000).describe(
    'of clients to a process; what comes beyond is dropped',
  ),
  REQUEST_TIMEOUT_MS: wholeNumber(1_000, 600_000, 60_000).describe(
    'until a request has come in whole, its headers in 10 s; or until an answer that is not taken is cut',
  ),
  NODE_ENV: z
    .string()
    .default('development')
    .describe('`production`: API and worker do not start without `SECRETS_KEYS`'),
  SECRETS_KEYS: secretKeys.describe(
    'keys of stored secrets, `id:base64,…`: the first encrypts, all decrypt',
  ),
  DELIVERY_ALLOWED_NETWORKS: networks.describe(
    'CIDR list of non-public networks that targets may be in',
  ),
  DELIVERY_DENIED_NETWORKS: networks.describe(
    'CIDR list of networks that targets must not be in, even if allowed',
  ),
  DELIVERY_ALLOWED_PORTS: ports.describe(
    'list of ports below 1024 that targets may have besides 80 and 443',
  ),
  DELIVERY_PROXY_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('egress proxy, such as `http://user:password@proxy:3128`, that calls go through'),
  DELIVERY_TIMEOUT_MS: wholeNumber(1_000, 20_000, 15_000).describe(
    'until the status line and headers of the answer, connecting included',
  ),
  DELIVERY_RETRY_SCHEDULE: delays.describe('delays before the retries; empty: no retry'),
  DELIVERY_CONCURRENCY: wholeNumber(1, 1_000, 50).describe(
    'calls in flight to one subscription, per worker',
  ),
  WORKER_CONCURRENCY: wholeNumber(1, 5_000, 400).describe('calls in flight in all, per worker'),
  QUEUE_SHARDS: wholeNumber(1, 64, 1).describe('Bull queues; the same in every process'),
  RETENTION_DAYS: wholeNumber(1, 3_650, 30).describe(
    'how long events, their deliveries and the keys of producers are kept; also for `migrate`',
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('collector of traces, such as `http://127.0.0.1:4318`; without it none are made'),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
    .default('info')
    .describe('least level that is logged'),
  LOG_EVENTS: z
    .enum(['summary', 'all'])
    .default('summary')
    .describe('`all`: a line for every event and attempt, instead of a summary a second'),
});

/** The variables of a process, as `process.env` has them. */
type Environment = Record<string, string | undefined>;

/** The settings of a process, read from the environment once and valid. */
export type Config = Readonly<z.infer<typeof schema>>;

/** Injection token of the {@link Config}. */
export const CONFIG = Symbol('Config');

/**
 * The environment holds no usable configuration. The message names variables, never values; of a
 * CIDR block with bits behind its prefix it has the block without them.
 */
export class InvalidConfigError extends Error {
  override readonly name = 'InvalidConfigError';
}

/**
 * Reads the configuration. An empty variable counts as one that is not set, except where empty
 * has a meaning of its own (`DELIVERY_RETRY_SCHEDULE`).
 * @throws InvalidConfigError that lists every fault by the variable's name
 */
export function readConfig(environment: Environment): Config {
  return parse(schema, environment);
}

/** The variables as JSON Schema, each as the environment has it: for documents. */
export function configJsonSchema(): z.core.JSONSchema.ObjectSchema {
  return z.toJSONSchema(schema, { io: 'input' }) as z.core.JSONSchema.ObjectSchema;
}

/**
 * Reads where the API of this environment listens, which needs nothing else of the configuration.
 * @throws InvalidConfigError
 */
export function readApiAddress(environment: Environment): Pick<Config, 'HOST' | 'PORT'> {
  return parse(schema.pick({ HOST: true, PORT: true }), environment);
}

function parse<Result>(wanted: z.ZodType<Result>, environment: Environment): Result {
  const given = Object.fromEntries(
    Object.entries(environment).filter(
      ([name, value]) => value !== '' || name === 'DELIVERY_RETRY_SCHEDULE',
    ),
  );
  const result = wanted.safeParse(given);
  if (result.success) return result.data;
  const faults = result.error.issues.map(({ path, code, message }) => {
    const name = path.join('.');
    return given[name] === undefined && code === 'invalid_type'
      ? `${name} is not set`
      : `${name}: ${message}`;
  });
  throw new InvalidConfigError(`configuration: ${faults.join('; ')}`);
}
