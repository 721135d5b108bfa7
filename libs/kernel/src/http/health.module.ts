import { Controller, Get, Inject, Module, Res } from '@nestjs/common';
import type { Response } from 'express';
import { Database } from '../database/database.js';
import { RedisHealth } from '../redis/redis-health.js';
import { Public } from './access.js';

/** Injection token: whether a process is ready without Redis. */
export const READY_WITHOUT_REDIS = Symbol('ReadyWithoutRedis');

const PROBE = { name: 'health.probe', text: 'SELECT 1' };
const PROBE_TIMEOUT_MS = 2_000;

/** Whether a process is there, and of use. */
@Public()
@Controller('health')
export class HealthController {
  constructor(
    private readonly database: Database,
    private readonly redis: RedisHealth,
    @Inject(READY_WITHOUT_REDIS) private readonly readyWithoutRedis: boolean,
  ) {}

  /** The process answers: nothing else is asked, or a database that is away would restart it. */
  @Get('live')
  live(): object {
    return { status: 'up' };
  }

  /** Which of PostgreSQL and Redis is away, and whether requests should come here. */
  @Get('ready')
  async ready(@Res({ passthrough: true }) response: Response): Promise<object> {
    const [postgres, redis] = await Promise.all([
      answers(this.database.query(PROBE, [])),
      answers(this.redis.ping()),
    ]);
    const ready = postgres && (redis || this.readyWithoutRedis);
    response.status(ready ? 200 : 503).setHeader('Cache-Control', 'no-store');
    return { status: word(ready), postgres: word(postgres), redis: word(redis) };
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
  static forProcess(options: { readyWithoutRedis: boolean }) {
    return {
      module: HealthModule,
      controllers: [HealthController],
      providers: [
        RedisHealth,
        { provide: READY_WITHOUT_REDIS, useValue: options.readyWithoutRedis },
      ],
    };
  }
}
