import { Global, Module } from '@nestjs/common';
import { MetricsServer } from '#libs/runtime';
import { InFlight } from './in-flight.js';
import { ProblemFilter } from './problem.filter.js';
import { Refusals } from './refusals.js';
import { RequestLog } from './request-log.js';
import { RequestMetrics } from './request-metrics.js';

/** The providers that `createHttpApplication` needs. */
@Global()
@Module({
  providers: [InFlight, ProblemFilter, Refusals, RequestLog, RequestMetrics, MetricsServer],
  exports: [InFlight, ProblemFilter, RequestLog, RequestMetrics],
})
export class HttpModule {}
