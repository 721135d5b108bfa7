import { Global, Module } from '@nestjs/common';
import { MetricsServer } from '../telemetry/metrics-server.js';
import { ProblemFilter } from './problem.filter.js';
import { RequestLog } from './request-log.js';

/** What `createHttpApplication` needs of a process that serves HTTP. */
@Global()
@Module({
  providers: [ProblemFilter, RequestLog, MetricsServer],
  exports: [ProblemFilter, RequestLog],
})
export class KernelHttpModule {}
