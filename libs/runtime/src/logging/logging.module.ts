import { type DynamicModule, Global, Module } from '@nestjs/common';
import { Log, NestLog, PROCESS_NAME } from './log.js';

/** Provides {@link Log} to every module of the process. */
@Global()
@Module({})
export class LoggingModule {
  static forProcess(name: string): DynamicModule {
    return {
      module: LoggingModule,
      providers: [{ provide: PROCESS_NAME, useValue: name }, Log, NestLog],
      exports: [Log, NestLog],
    };
  }
}
