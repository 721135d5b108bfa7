import type { Environment } from '../../support/environment.js';
import { ServiceProcess, type ServiceSetup } from '../../support/service-process.js';
import type { Link } from './link.js';

/** An API or a worker with its own link to each store. */
export class LinkedProcess extends ServiceProcess {
  readonly postgres: Link;
  readonly redis: Link;

  constructor(
    { postgres, redis }: { postgres: Link; redis: Link },
    setup: Omit<ServiceSetup, 'environment'> & { environment: Environment },
  ) {
    super({
      ...setup,
      environment: () => ({
        DATABASE_URL: postgres.url,
        REDIS_URL: redis.url,
        ...setup.environment,
      }),
    });
    [this.postgres, this.redis] = [postgres, redis];
  }
}
