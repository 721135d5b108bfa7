import 'reflect-metadata';
import { setFlagsFromString } from 'node:v8';
import { applicationsSchema } from '#libs/applications';
import { startServer } from '#libs/http';
import { identitySchema } from '#libs/identity';
import { webhooksSchema } from '#libs/webhooks';
import { WorkerModule } from './worker.module.js';

// By default, V8 would run a full garbage collection whenever ten more megabytes have survived, and its threads
// would occupy the cores for up to 0.1 s. In an API, less survives and collections are rarer.
setFlagsFromString('--heap-growing-percent=60');

await startServer({
  name: 'worker',
  port: 'WORKER_PORT',
  moduleFor: (config) => WorkerModule.forConfig(config),
  schemas: [identitySchema, applicationsSchema, webhooksSchema],
});
