import { Global, Module } from '@nestjs/common';
import { MetricsServer } from '#libs/runtime';
import { InFlight } from './in-flight.js';
import { ProblemFilter } from './problem.filter.js';
import { RequestLog } from './request-log.js';

/** The providers that `createHttpApplication` needs. */
@Global()
@Module({
  providers: [InFlight, ProblemFilter, RequestLog, MetricsServer],
  exports: [InFlight, ProblemFilter, RequestLog],
})
export class HttpModule {}
