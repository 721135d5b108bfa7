import { setTimeout as sleep } from 'node:timers/promises';
import {
  type BeforeApplicationShutdown,
  Controller,
  Get,
  Inject,
  Injectable,
  Module,
} from '@nestjs/common';
import { HOLD_CAUSES, SecretBox } from '#libs/kernel';
import {
  CONFIG,
  type Config,
  Database,
  HostResources,
  Log,
  Processes,
  PROCESS_NAME,
  PostgresHosts,
  RedisHealth,
  SecretsModule,
  SHORTAGES,
  UnusableDatabaseError,
  UnusableRedisError,
} from '#libs/runtime';
import { Public } from './access.js';
import { type Answer, answer } from './answer.js';
import { describeRoutes } from './openapi/describe.js';
import { choice, named, object, optional, text } from './openapi/schema.js';

const PROBE_TIMEOUT_MS = 2_000;
/** Most requests that wait for a probe: each takes memory until its answer, also after its client has left. */
const MOST_WAITING = 100;

/** Whether a store can be used, and why not if it answers that it cannot. */
interface Probed {
  isUp: boolean;
  reason?: string;
}

type Stores = [postgres: Probed, redis: Probed];

/**
 * Delays the shutdown of an API after the signal: it is no longer ready, but accepts requests for another
 * `SHUTDOWN_DELAY_MS`.
 */
@Injectable()
export class Shutdown implements BeforeApplicationShutdown {
  hasBegun = false;

  constructor(
    @Inject(PROCESS_NAME) private readonly name: string,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /**
   * A connection that arrives while a server stops listening is reset, so the proxy has to know in advance.
   * Nest closes the server after this hook.
   */
  async beforeApplicationShutdown(): Promise<void> {
    this.hasBegun = true;
    if (this.name === 'api') await sleep(this.config.SHUTDOWN_DELAY_MS);
  }
}

/** Liveness and readiness of a process. */
@Public()
@Controller('health')
export class HealthController {
  private probing: Promise<Stores> | undefined;
  private waiting = 0;
  private last: Stores = [{ isUp: false }, { isUp: false }];
  private logged: string | undefined;

  constructor(
    private readonly database: Database,
    private readonly redis: RedisHealth,
    private readonly host: HostResources,
    private readonly processes: Processes,
    private readonly shutdown: Shutdown,
    private readonly log: Log,
    @Inject(PROCESS_NAME) private readonly name: string,
    private readonly hosts: PostgresHosts,
    private readonly secrets: SecretBox,
  ) {}

  /** Checks nothing but the process, because an unavailable database must not cause a restart. */
  @Get('live')
  live(): object {
    return { status: 'up' };
  }

  /**
   * Reports PostgreSQL and Redis, and whether the process should receive requests. An API needs no Redis. A lack of resources does not
   * change that: the ports to a single target may be used up while calls to all others succeed. Nor does a hold: a
   * restart would not help.
   */
  @Get('ready')
  async ready(): Promise<Answer> {
    const stores = await this.probe();
    const [{ isUp: postgres }, { isUp: redis }] = stores;
    const { missingKey } = this.secrets;
    const reasons = [
      ...stores.map(({ reason }) => reason),
      this.hosts.conflict,
      missingKey && `SECRETS_KEYS has no key "${missingKey}", which stored secrets need`,
    ].filter((reason) => reason !== undefined);
    const ready = postgres && (redis || this.name === 'api') && !this.shutdown.hasBegun;
    const { shortage } = this.host;
    const { hold } = this.processes;
    const body = {
      ...{ status: word(ready), postgres: word(postgres), redis: word(redis) },
      ...(reasons.length > 0 && { reason: reasons.join('; ') }),
      ...(shortage !== undefined && { shortage }),
      ...(hold && { hold: hold.cause }),
    };
    return answer(body, {
      status: ready ? 200 : 503,
      headers: { 'Cache-Control': 'no-store' },
    });
  }

  /**
   * Concurrent requests share one probe, because anyone may ask at any rate. If many wait for it already, further ones
   * get the outcome of the probe before.
   */
  private async probe(): Promise<Stores> {
    if (this.waiting >= MOST_WAITING) return this.last;
    this.waiting += 1;
    this.probing ??= Promise.all([
      outcomeOf(this.database.check()),
      outcomeOf(this.redis.check()),
    ]).finally(() => {
      this.probing = undefined;
      this.waiting = 0;
    });
    this.last = await this.probing;
    this.logOnce(this.last[0].reason);
    return this.last;
  }

  private logOnce(reason: string | undefined): void {
    if (reason !== undefined && reason !== this.logged) this.log.error({ reason }, 'not ready');
    this.logged = reason;
  }
}

const word = (up: boolean): string => (up ? 'up' : 'down');

async function outcomeOf(probe: Promise<void>): Promise<Probed> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<Probed>((resolve) => {
    timer = setTimeout(resolve, PROBE_TIMEOUT_MS, { isUp: false });
  });
  const answered = probe.then(
    (): Probed => ({ isUp: true }),
    (error: unknown): Probed =>
      error instanceof UnusableDatabaseError || error instanceof UnusableRedisError
        ? { isUp: false, reason: error.message }
        : { isUp: false },
  );
  try {
    return await Promise.race([answered, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** `/health/live` and `/health/ready`, without credentials. */
@Module({ imports: [SecretsModule], controllers: [HealthController], providers: [Shutdown] })
export class HealthModule {}

const upOrDown = (description: string) => choice(description, ['up', 'down']);

const ReadySchema = named(
  'Readiness',
  object({
    status: upOrDown('Whether this process should receive requests.'),
    postgres: upOrDown('Whether PostgreSQL takes writes.'),
    redis: optional(
      upOrDown(
        'Whether Redis takes writes; absent while the process waits for PostgreSQL or its database schema.',
      ),
    ),
    schema: optional(
      upOrDown('`down` while the process waits for `migrate` to create its database schema.'),
    ),
    reason: optional(
      text(
        'Why PostgreSQL or Redis cannot be used although it responds: it takes no writes, a setting has a wrong value, ' +
          'or it refuses a command. Also names the hosts of PostgreSQL that take writes, if several do, and the key of ' +
          'stored secrets that is missing.',
        'PostgreSQL is a standby, which takes no writes',
      ),
    ),
    shortage: optional(
      choice(
        'What this host lacked for requests to targets in the last ten seconds: file descriptors (`EMFILE`, `ENFILE`), ' +
          'memory (`ENOBUFS`, `ENOMEM`) or ports (`EADDRNOTAVAIL`). Deliveries wait meanwhile.',
        SHORTAGES,
      ),
    ),
    hold: optional(
      choice(
        'Why this worker holds its deliveries: no target responds (`unreachable`), the egress proxy or the resolver cannot ' +
          'be reached, this host has no network, or it lacks resources. It attempts one delivery per second.',
        HOLD_CAUSES,
      ),
    ),
  }),
);

/** The health routes in the API description. */
export const healthRoutes = [
  describeRoutes(HealthController, {
    tag: 'Health',
    about: 'The health of the process. No credentials are required.',
    operations: {
      live: {
        summary: 'Check whether the process is alive',
        about: 'Returns 200 if the process responds. Nothing else is checked.',
        answer: named('Liveness', object({ status: choice('Always `up`.', ['up']) })),
      },
      ready: {
        summary: 'Check whether the process is ready',
        about:
          'Returns whether PostgreSQL and Redis take writes, and whether this process should receive requests.',
        answer: ReadySchema,
        others: {
          503: { about: 'Not ready: send requests to another process.', schema: ReadySchema },
        },
      },
    },
  }),
];
