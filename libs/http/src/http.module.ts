import { Global, Module } from '@nestjs/common';
import { MetricsServer } from '#libs/runtime';
import { InFlight } from './in-flight.js';
import { ProblemFilter } from './problem.filter.js';
import { RequestLog } from './request-log.js';

/** What `createHttpApplication` needs of a process that serves HTTP. */
@Global()
@Module({
  providers: [InFlight, ProblemFilter, RequestLog, MetricsServer],
  exports: [InFlight, ProblemFilter, RequestLog],
})
export class HttpModule {}
