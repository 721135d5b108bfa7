import 'reflect-metadata';
import { setFlagsFromString } from 'node:v8';
import { applicationsSchema } from '#libs/applications';
import { startServer } from '#libs/http';
import { identitySchema } from '#libs/identity';
import { webhooksSchema } from '#libs/webhooks';
import { WorkerModule } from './worker.module.js';

// Under the limit of the heap, V8 would collect all garbage whenever ten more megabytes have survived, and the
// threads that do it take the cores from everything else for up to a tenth of a second. An API, of whose
// requests less survives, does so more rarely.
setFlagsFromString('--heap-growing-percent=60');

await startServer({
  name: 'worker',
  port: 'WORKER_PORT',
  moduleFor: (config) => WorkerModule.forConfig(config),
  schemas: [identitySchema, applicationsSchema, webhooksSchema],
});
