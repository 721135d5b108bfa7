import 'reflect-metadata';
import { applicationsSchema } from '#libs/applications';
import { startServer } from '#libs/http';
import { identitySchema } from '#libs/identity';
import { webhooksSchema } from '#libs/webhooks';
import { ApiModule } from './api.module.js';

await startServer({
  name: 'api',
  moduleFor: (config) => ApiModule.forConfig(config),
  schemas: [identitySchema, applicationsSchema, webhooksSchema],
});
