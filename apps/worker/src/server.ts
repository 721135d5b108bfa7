import 'reflect-metadata';
import { setFlagsFromString } from 'node:v8';
import { applicationsSchema } from '#libs/applications';
import { startServer } from '#libs/http';
import { identitySchema } from '#libs/identity';
import { webhooksSchema } from '#libs/webhooks';
import { WorkerModule } from './worker.module.js';

// With its heap limit, V8 would collect all garbage whenever ten more megabytes survive, and its threads would take the
// cores from everything else for up to a tenth of a second. The API needs no such setting: less survives its requests.
setFlagsFromString('--heap-growing-percent=60');

await startServer({
  name: 'worker',
  moduleFor: (config) => WorkerModule.forConfig(config),
  schemas: [identitySchema, applicationsSchema, webhooksSchema],
});
