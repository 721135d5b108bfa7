import 'reflect-metadata';
import { createHttpApplication } from '#libs/http';
import { configFromEnvironment, startProcess } from '#libs/runtime';
import { ApiModule } from './api.module.js';

await startProcess('api', async () => {
  const config = configFromEnvironment();
  const app = await createHttpApplication(ApiModule.forConfig(config));
  await app.listen(config.PORT, config.HOST);
});
