import { type DynamicModule, Module } from '@nestjs/common';
import type { Config } from './config/config.js';
import { BackgroundModule } from './background/background.module.js';
import { ConfigModule } from './config/config.module.js';
import { DatabaseModule } from './database/database.module.js';
import { LoggingModule } from './logging/logging.module.js';
import { TelemetryModule } from './telemetry/telemetry.module.js';

/** Configuration, log, background tasks and PostgreSQL of a process. Users of Redis connect themselves. */
@Module({})
export class RuntimeModule {
  static forProcess(name: string, config: Config): DynamicModule {
    return {
      module: RuntimeModule,
      imports: [
        ConfigModule.forProcess(config),
        LoggingModule.forProcess(name),
        TelemetryModule.forProcess(name),
        BackgroundModule,
        DatabaseModule,
      ],
    };
  }
}
