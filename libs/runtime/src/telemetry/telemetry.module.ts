import { type DynamicModule, Global, Module } from '@nestjs/common';
import { CONFIG, type Config } from '../config/config.js';
import { Log } from '../logging/log.js';
import { Metrics } from './metrics.js';
import { Tracing } from './tracing.js';

/** Provides {@link Metrics} and {@link Tracing} to every module of the process. */
@Global()
@Module({ providers: [Metrics], exports: [Metrics, Tracing] })
export class TelemetryModule {
  static forProcess(name: string): DynamicModule {
    return {
      module: TelemetryModule,
      providers: [
        {
          provide: Tracing,
          inject: [CONFIG, Log],
          useFactory: async (config: Config, log: Log) => {
            const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } = config;
            if (endpoint === undefined) return new Tracing();
            // Loaded only if needed, because it costs memory and 0.1 s.
            const { OpenTelemetryTracing } = await import('./open-telemetry-tracing.js');
            return new OpenTelemetryTracing(endpoint, name, log);
          },
        },
      ],
    };
  }
}
