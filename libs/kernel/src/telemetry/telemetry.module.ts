import { Global, Module } from '@nestjs/common';
import { Metrics } from './metrics.js';

/** Provides {@link Metrics} to every module of the process. */
@Global()
@Module({ providers: [Metrics], exports: [Metrics] })
export class TelemetryModule {}
