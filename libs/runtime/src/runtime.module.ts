import { type DynamicModule, Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { SecretBox, Transactions } from '#libs/kernel';
import { BackgroundTasks } from './background-tasks.js';
import { CONFIG, type Config, InvalidConfigError } from './config/config.js';
import { dataSourceOptions } from './database/data-source-options.js';
import { isUnavailable } from './database/database-errors.js';
import { Database } from './database/database.js';
import { DatabaseWatch } from './database/database-watch.js';
import { postgresAddressOf } from './database/postgres-address.js';
import { PostgresHosts } from './database/postgres-hosts.js';
import { TypeOrmTransactions } from './database/typeorm-transactions.js';
import { HostResources } from './host-resources.js';
import { IdempotencyKeys } from './idempotency-keys.js';
import { FailureLog } from './logging/failure-log.js';
import { Log, NestLog, PROCESS_NAME } from './logging/log.js';
import { Processes } from './processes.js';
import { Metrics } from './telemetry/metrics.js';
import { Tracing } from './telemetry/tracing.js';

/**
 * A connection is closed after this long without an answer: the server would have cancelled the statement
 * earlier (database/roles.ts).
 */
const SILENCE_MS = 15_000;

const SERVICES = [
  Log,
  NestLog,
  FailureLog,
  Metrics,
  BackgroundTasks,
  HostResources,
  Database,
  DatabaseWatch,
  TypeOrmTransactions,
  IdempotencyKeys,
  Processes,
];

/**
 * Provides every module of a process with configuration, log, metrics, tracing, background tasks and
 * PostgreSQL, with one connection pool. Users of Redis connect themselves.
 */
@Global()
@Module({})
export class RuntimeModule {
  static forProcess(name: string, config: Config): DynamicModule {
    const hosts = new PostgresHosts(postgresAddressOf(config.DATABASE_URL));
    return {
      module: RuntimeModule,
      imports: [TypeOrmModule.forRoot(connectionOptions(config, hosts))],
      providers: [
        { provide: CONFIG, useValue: config },
        { provide: PROCESS_NAME, useValue: name },
        { provide: PostgresHosts, useValue: hosts },
        { provide: Tracing, inject: [CONFIG, PROCESS_NAME, Log], useFactory: tracingFor },
        { provide: Transactions, useExisting: TypeOrmTransactions },
        ...SERVICES,
      ],
      exports: [CONFIG, PROCESS_NAME, Tracing, Transactions, PostgresHosts, ...SERVICES],
    };
  }
}

function connectionOptions(config: Config, hosts: PostgresHosts) {
  return {
    ...dataSourceOptions(config, SILENCE_MS, hosts),
    autoLoadEntities: true,
    // A retry does not help against a wrong password or a missing database.
    toRetry: isUnavailable,
  };
}

async function tracingFor(config: Config, processName: string, log: Log): Promise<Tracing> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } = config;
  if (endpoint === undefined) return new Tracing();
  // Loaded only if needed, because it costs memory and 0.1 s.
  const { OpenTelemetryTracing } = await import('./telemetry/open-telemetry-tracing.js');
  return new OpenTelemetryTracing(endpoint, processName, log);
}

/** Provides the {@link SecretBox} with the configured keys. */
@Module({
  providers: [{ provide: SecretBox, inject: [CONFIG, Metrics, Log], useFactory: configuredBox }],
  exports: [SecretBox],
})
export class SecretsModule {}

/** @throws InvalidConfigError in production without a key */
export function requireSecretsKeys({ SECRETS_KEYS: keys, NODE_ENV }: Config): void {
  if (keys.length > 0 || NODE_ENV !== 'production') return;
  throw new InvalidConfigError('configuration: SECRETS_KEYS is not set');
}

/** @throws InvalidConfigError in production without a key */
function configuredBox(config: Config, metrics: Metrics, log: Log): SecretBox {
  requireSecretsKeys(config);
  const { SECRETS_KEYS: keys } = config;
  if (keys.length === 0) {
    log.warn({}, 'secrets are stored unencrypted: SECRETS_KEYS is not set');
  }
  const unreadable = metrics.counter(
    'switchhook_unreadable_secrets_total',
    'Stored secrets that could not be read; the log says why.',
  );
  return new SecretBox(keys, () => unreadable.inc());
}
