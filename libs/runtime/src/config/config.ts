import { z } from 'zod';
import { postgresAddressOf } from '../database/postgres-address.js';
import { redisAddressOf } from '../redis/redis-address.js';
import {
  API,
  API_AND_CLI,
  baseUrl,
  CLI,
  delays,
  httpUrl,
  networks,
  oneOf,
  onOff,
  origins,
  postgresUrl,
  processes,
  type Program,
  proxyUrl,
  rate,
  type Readers,
  schemaName,
  secretKeys,
  SERVERS,
  wholeNumber,
  WORKER,
} from './config-values.js';
import { type Environment, withSecretFiles } from './secret-files.js';

const schema = z.object({
  DATABASE_URL: postgresUrl.describe(
    'PostgreSQL, 15 or later; several hosts: `postgres://user:password@host,host/database`',
  ),
  DATABASE_POOL_SIZE: wholeNumber(2, 500, 10)
    .describe('the most connections that one process opens')
    .meta(SERVERS),
  DATABASE_PREPARED_STATEMENTS: onOff
    .prefault('true')
    .describe('`false` behind PgBouncer in transaction mode'),
  DATABASE_SYNCHRONOUS: onOff
    .prefault('false')
    .describe('`true`: take no event while commits of PostgreSQL wait for no standby')
    .meta(SERVERS),
  DATABASE_SCHEMA: schemaName.describe(
    'the schema of the tables, for an installation that shares its database; by default `public`',
  ),
  MIGRATION_DATABASE_URL: postgresUrl
    .optional()
    .describe('a direct connection for `migrate`, if `DATABASE_URL` is a pooler')
    .meta(CLI),
  DATABASE_API_ROLE: z
    .string()
    .optional()
    .describe(
      'the role of the API: `migrate` grants it the rights that it needs, and revokes all others',
    )
    .meta(CLI),
  DATABASE_WORKER_ROLE: z.string().optional().describe('the same for the worker').meta(CLI),
  INSTALLATION_GROUP: wholeNumber(0, 1_023, 0)
    .describe('for `migrate`: the range of the ids, so that no two installations give the same one')
    .meta(CLI),
  REDIS_URL: z
    .string()
    .default('redis://127.0.0.1:6379')
    .refine(
      (text) => redisAddressOf(text) !== undefined,
      'must be redis://host, redis+cluster://host,host or redis+sentinel://host,host/name, with a percent-encoded login',
    )
    .describe('Redis, 6.2 or later; `rediss://` for TLS, `redis+cluster://`, `redis+sentinel://`'),
  REDIS_PASSWORD: z.string().optional().describe('password of Redis, if `REDIS_URL` has none'),
  REDIS_SENTINEL_PASSWORD: z.string().optional().describe('password of the sentinels'),
  HOST: z.string().default('0.0.0.0').describe('address to listen on'),
  PORT: wholeNumber(0, 65_535, 3000).describe('port of the API').meta(API_AND_CLI),
  WORKER_PORT: wholeNumber(0, 65_535, 3001).describe("port of the worker's health").meta(WORKER),
  METRICS_PORT: wholeNumber(0, 65_535, 0)
    .describe('port of the metrics; 0 serves none')
    .meta(SERVERS),
  API_PROCESSES: processes(1 / 4)
    .describe('how many processes an API consists of; by default a quarter of the cores, 1 to 4')
    .meta(API),
  WORKER_PROCESSES: processes(1 / 2)
    .describe('how many processes a worker consists of; by default half of the cores, 1 to 4')
    .meta(WORKER),
  SHUTDOWN_DELAY_MS: wholeNumber(0, 15_000, 3_000)
    .describe('how long an API still accepts requests after SIGTERM')
    .meta(SERVERS),
  PUBLIC_BASE_URL: baseUrl
    .describe('what every `href` starts with; by default taken from the request')
    .meta(API),
  TRUSTED_PROXIES: networks
    .describe('CIDR list of proxies whose forwarded headers count')
    .meta(SERVERS),
  CORS_ORIGINS: origins
    .describe('origins of web pages that may call the API, comma-separated')
    .meta(SERVERS),
  CONSOLE_FRAME_ANCESTORS: origins
    .describe('origins of web pages that may show the console in a frame, comma-separated')
    .meta(API),
  CONSOLE: onOff.prefault('true').describe('`false`: no console at `/console`').meta(API),
  MAX_BODY_BYTES: wholeNumber(1_024, 64 << 20, 256 << 10)
    .describe('size limit of a request body')
    .meta(API),
  MAX_BATCH_BYTES: wholeNumber(1_024, 64 << 20, 8 << 20)
    .describe('size limit of the body of an event batch')
    .meta(API),
  RATE_LIMIT: rate
    .prefault('60000/m')
    .describe('requests that an account may send, such as `10/s`, `600/m` or `36000/h`')
    .meta(API),
  MAX_CONNECTIONS: wholeNumber(1, 1_000_000, 4_000)
    .describe('limit of client connections to a process; further ones are dropped')
    .meta(SERVERS),
  NODE_ENV: z
    .string()
    .default('development')
    .describe(
      '`production`: API and worker do not start without `SECRETS_KEYS`, and `npm start` not without `DATABASE_URL`',
    ),
  SECRETS_KEYS: secretKeys.describe(
    'keys of stored secrets, `id:base64,…`: the first encrypts, all decrypt',
  ),
  DELIVERY_ALLOWED_NETWORKS: networks
    .describe('CIDR list of non-public networks that targets may be in')
    .meta(SERVERS),
  DELIVERY_DENIED_NETWORKS: networks
    .describe('CIDR list of networks that targets must not be in, even if allowed')
    .meta(SERVERS),
  DELIVERY_PROXY_URL: proxyUrl
    .optional()
    .describe('egress proxy for all calls, such as `http://user:password@proxy:3128`')
    .meta(WORKER),
  DELIVERY_TIMEOUT_MS: wholeNumber(1_000, 20_000, 15_000)
    .describe('timeout until the status line and headers of the answer, connecting included')
    .meta(SERVERS),
  DELIVERY_RETRY_SCHEDULE: delays
    .describe('delays before the retries; empty: no retry; the API shows them')
    .meta(SERVERS),
  DELIVERY_CONCURRENCY: wholeNumber(1, 1_000, 50)
    .describe('calls in flight to one subscription, per worker')
    .meta(SERVERS),
  WORKER_CONCURRENCY: wholeNumber(1, 5_000, 400)
    .describe('calls in flight in total, per worker')
    .meta(WORKER),
  QUEUE_SHARDS: wholeNumber(1, 64, 1)
    .describe('number of Bull queues; the same in every process')
    .meta(SERVERS),
  RETENTION_DAYS: wholeNumber(1, 3_650, 30)
    .describe("for `migrate`: how long events, their deliveries and producers' ids are kept")
    .meta(CLI),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl
    .optional()
    .describe(
      'collector of traces, such as `http://127.0.0.1:4318`; without it there are no traces',
    ),
  LOG_LEVEL: oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent')
    .default('info')
    .describe('lowest level that is logged; `debug` adds a line for every event and attempt'),
});

/** The validated settings of a process, read from the environment once. */
export type Config = Readonly<z.infer<typeof schema>>;

/** Injection token of the {@link Config}. */
export const CONFIG = Symbol('Config');

/**
 * The configuration in the environment is invalid. The message names variables, never values; for a CIDR
 * block with host bits, it suggests the block without them.
 */
export class InvalidConfigError extends Error {
  override readonly name = 'InvalidConfigError';
}

/**
 * Reads the configuration, by default of this process, and secrets from files. An empty variable counts as not set,
 * except `DELIVERY_RETRY_SCHEDULE`, where empty has its own meaning.
 * @throws InvalidConfigError that lists every fault by the variable's name
 */
export function readConfig(environment: Environment = process.env): Config {
  return parse(schema, environment);
}

/** Like {@link readConfig}, but leaves the settings that the program does not read at their defaults. */
export function readConfigOf(program: Program, environment: Environment = process.env): Config {
  return parse(schema, environment, settingsOf(program));
}

/** The names of the settings that a program reads. */
export function settingsOf(program: Program): string[] {
  return Object.entries(schema.shape).flatMap(([name, setting]) => {
    const { readBy = [program] } = (setting.meta() ?? {}) as Partial<Readers>;
    return readBy.includes(program) ? [name] : [];
  });
}

/**
 * Reads only these settings, for programs that start or call the processes of this machine.
 * @throws InvalidConfigError
 */
export function readSettings<Name extends keyof Config>(
  names: readonly Name[],
  environment: Environment = process.env,
): Pick<Config, Name> {
  const only = z.object(Object.fromEntries(names.map((name) => [name, schema.shape[name]])));
  return parse(only, environment) as unknown as Pick<Config, Name>;
}

/** The variables as JSON Schema, each as written in the environment. For documentation. */
export function configJsonSchema(): z.core.JSONSchema.ObjectSchema {
  return z.toJSONSchema(schema, { io: 'input' }) as z.core.JSONSchema.ObjectSchema;
}

function parse<Shape extends z.ZodRawShape>(
  wanted: z.ZodObject<Shape>,
  environment: Environment,
  names: readonly string[] = Object.keys(wanted.shape),
): z.output<z.ZodObject<Shape>> {
  const { variables, faults } = withSecretFiles(environment, names);
  const given = Object.fromEntries(
    names.flatMap((name) => {
      const value = variables[name];
      return value !== '' || name === 'DELIVERY_RETRY_SCHEDULE' ? [[name, value]] : [];
    }),
  );
  const result = wanted.safeParse(given);
  if (result.success && faults.size === 0) return result.data;
  const others = result.error?.issues.flatMap(({ path, code, message }) => {
    const name = path.join('.');
    if (faults.has(name)) return [];
    const isMissing = given[name] === undefined && code === 'invalid_type';
    if (!isMissing) return `${name}: ${message}`;
    const file = `${name}_FILE`;
    return `${name} is not set${environment[file] ? `: the file of ${file} is empty` : ''}`;
  });
  const all = [...faults.values(), ...(others ?? [])];
  throw new InvalidConfigError(`configuration: ${all.join('; ')}`);
}

/** The addresses of the stores for the log, without logins. */
export function storeAddresses({ DATABASE_URL, REDIS_URL }: Config): {
  postgres: string;
  redis: string;
} {
  const redis = redisAddressOf(REDIS_URL);
  return {
    postgres: postgresAddressOf(DATABASE_URL).name,
    redis:
      redis && redis.kind !== 'server'
        ? redis.nodes.map(({ host, port }) => `${host}:${port}`).join(',')
        : withoutLogin(REDIS_URL),
  };
}

/** Host, port and path, because a query may contain a password as well. */
function withoutLogin(url: string): string {
  if (!URL.canParse(url)) return 'not a URL';
  const { host, pathname } = new URL(url);
  return host + pathname.replace(/^\/$/, '');
}
