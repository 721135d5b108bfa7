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
  /** @param fixed settings of this process that override the environment */
  static forProcess(name: string, fixed: Partial<Config> = {}): DynamicModule {
    return {
      module: RuntimeModule,
      imports: [
        ConfigModule.forProcess(fixed),
        LoggingModule.forProcess(name),
        TelemetryModule.forProcess(name),
        BackgroundModule,
        DatabaseModule,
      ],
    };
  }
}
