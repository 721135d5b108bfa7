import 'reflect-metadata';
import { applicationsSchema } from '#libs/applications';
import { startServer } from '#libs/http';
import { identitySchema } from '#libs/identity';
import { webhooksSchema } from '#libs/webhooks';
import { WorkerModule } from './worker.module.js';

await startServer({
  name: 'worker',
  port: 'WORKER_PORT',
  moduleFor: (config) => WorkerModule.forConfig(config),
  schemas: [identitySchema, applicationsSchema, webhooksSchema],
});
