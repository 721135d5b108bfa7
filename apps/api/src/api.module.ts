import { type DynamicModule, Module } from '@nestjs/common';
import { ApplicationsHttpModule } from '#libs/applications/http';
import { HealthModule, HttpModule, UnknownRouteModule } from '#libs/http';
import { IdentityHttpModule } from '#libs/identity/http';
import { type Config, RuntimeModule } from '#libs/runtime';
import { PartitionsModule, QueueModule } from '#libs/webhooks';
import { EventsHttpModule, WebhooksHttpModule } from '#libs/webhooks/http';
import { ConsoleModule } from './console.module.js';
import { DocsModule } from './docs/docs.module.js';

/** The process that serves the REST API. */
@Module({})
export class ApiModule {
  static forConfig(config: Config): DynamicModule {
    return {
      module: ApiModule,
      imports: [
        RuntimeModule.forProcess('api', config),
        HttpModule,
        PartitionsModule,
        QueueModule.withShards(config.QUEUE_SHARDS),
        // First, because the router tries routes in order, and events are the most frequent requests.
        EventsHttpModule,
        HealthModule,
        IdentityHttpModule,
        ApplicationsHttpModule,
        WebhooksHttpModule,
        DocsModule,
        ConsoleModule,
        // The catch-all route must be the last.
        UnknownRouteModule,
      ],
    };
  }
}
