import { type DynamicModule, Module } from '@nestjs/common';
import { EventsModule } from '../infrastructure/events.module.js';
import { DeliveriesController } from '../../deliveries/http/deliveries.controller.js';
import { EventsController } from './events.controller.js';
import { MissedEventsController } from './missed-events.controller.js';
import { ReplaysController } from '../../deliveries/http/replays.controller.js';

/** The routes of events, deliveries and replays. */
@Module({})
export class EventsHttpModule {
  /** @param shards `QUEUE_SHARDS` of the configuration */
  static withShards(shards: number): DynamicModule {
    return {
      module: EventsHttpModule,
      imports: [EventsModule.withShards(shards)],
      controllers: [
        EventsController,
        MissedEventsController,
        DeliveriesController,
        ReplaysController,
      ],
    };
  }
}
