import { type DynamicModule, Module } from '@nestjs/common';
import { CONFIG, type Config } from './config.js';
import { configFromEnvironment } from './environment.js';

/** Provides {@link CONFIG} to every module of the process. */
@Module({})
export class ConfigModule {
  /** @param fixed settings of this process that override the environment */
  static forProcess(fixed: Partial<Config> = {}): DynamicModule {
    return {
      module: ConfigModule,
      global: true,
      providers: [
        { provide: CONFIG, useFactory: () => ({ ...configFromEnvironment(), ...fixed }) },
      ],
      exports: [CONFIG],
    };
  }
}
