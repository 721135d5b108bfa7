import { type DynamicModule, Module } from '@nestjs/common';
import { ApplicationsHttpModule } from '#libs/applications/http';
import { HealthModule, HttpModule, UnknownRouteModule } from '#libs/http';
import { IdentityHttpModule } from '#libs/identity/http';
import { type Config, RuntimeModule } from '#libs/runtime';
import { PartitionKeeper } from '#libs/webhooks';
import { EventsHttpModule, WebhooksHttpModule } from '#libs/webhooks/http';
import { DocsModule } from './docs/docs.module.js';

/** The process that serves the REST interface. */
@Module({})
export class ApiModule {
  static forConfig(config: Config): DynamicModule {
    return {
      module: ApiModule,
      imports: [
        RuntimeModule.forProcess('api'),
        HttpModule,
        // The router tries one route after the other, and events are reported by the thousand.
        EventsHttpModule.withShards(config.QUEUE_SHARDS),
        HealthModule.forProcess({ readyWithoutRedis: true, behindProxy: true }),
        IdentityHttpModule,
        ApplicationsHttpModule,
        WebhooksHttpModule,
        DocsModule,
        // Takes what no other route has taken, so it stays the last.
        UnknownRouteModule,
      ],
      providers: [PartitionKeeper],
    };
  }
}
