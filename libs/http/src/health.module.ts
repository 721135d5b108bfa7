import { setTimeout as sleep } from 'node:timers/promises';
import {
  type BeforeApplicationShutdown,
  Controller,
  Get,
  Inject,
  Injectable,
  Module,
  Res,
} from '@nestjs/common';
import type { Response } from 'express';
import { CONFIG, type Config, Database, RedisHealth, prepared } from '#libs/runtime';
import { Public } from './access.js';

/** What being ready means for a process. */
export interface Readiness {
  /** Whether it is ready without Redis. */
  readyWithoutRedis: boolean;
  /**
   * Whether requests come to it through a proxy: it goes on accepting them for `SHUTDOWN_DELAY_MS`
   * after it was told to end, and is not ready any more.
   */
  behindProxy: boolean;
}

/** Injection token of the {@link Readiness}. */
export const READINESS = Symbol('Readiness');

const PROBE = prepared('health.probe', 'SELECT 1');
const PROBE_TIMEOUT_MS = 2_000;

/** The end of a process, from the signal on. */
@Injectable()
export class Shutdown implements BeforeApplicationShutdown {
  hasBegun = false;

  constructor(
    @Inject(READINESS) private readonly readiness: Readiness,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /**
   * A connection that comes while a server stops listening is reset, so a proxy has to know before:
   * what closes the server comes after this.
   */
  async beforeApplicationShutdown(): Promise<void> {
    this.hasBegun = true;
    if (this.readiness.behindProxy) await sleep(this.config.SHUTDOWN_DELAY_MS);
  }
}

/** Whether a process is there, and of use. */
@Public()
@Controller('health')
export class HealthController {
  private probing: Promise<boolean[]> | undefined;

  constructor(
    private readonly database: Database,
    private readonly redis: RedisHealth,
    private readonly shutdown: Shutdown,
    @Inject(READINESS) private readonly readiness: Readiness,
  ) {}

  /** The process answers: nothing else is asked, or a database that is away would restart it. */
  @Get('live')
  live(): object {
    return { status: 'up' };
  }

  /** Which of PostgreSQL and Redis is away, and whether requests should come here. */
  @Get('ready')
  async ready(@Res({ passthrough: true }) response: Response): Promise<object> {
    const [postgres = false, redis = false] = await this.probe();
    const ready =
      postgres && (redis || this.readiness.readyWithoutRedis) && !this.shutdown.hasBegun;
    response.status(ready ? 200 : 503).setHeader('Cache-Control', 'no-store');
    return { status: word(ready), postgres: word(postgres), redis: word(redis) };
  }

  /** Anyone may ask, as often as they like: the stores are asked once at a time. */
  private probe(): Promise<boolean[]> {
    this.probing ??= Promise.all([
      answers(this.database.run(PROBE)),
      answers(this.redis.ping()),
    ]).finally(() => {
      this.probing = undefined;
    });
    return this.probing;
  }
}

const word = (up: boolean): string => (up ? 'up' : 'down');

async function answers(probe: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, PROBE_TIMEOUT_MS, false);
  });
  const inTime = probe.then(
    () => true,
    () => false,
  );
  try {
    return await Promise.race([inTime, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** `/health/live` and `/health/ready`, without credentials. */
@Module({})
export class HealthModule {
  static forProcess(readiness: Readiness) {
    return {
      module: HealthModule,
      controllers: [HealthController],
      providers: [RedisHealth, Shutdown, { provide: READINESS, useValue: readiness }],
    };
  }
}
