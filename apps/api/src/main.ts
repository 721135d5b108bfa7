import 'reflect-metadata';
import { createHttpApplication } from '#libs/http';
import { readConfig, startProcess } from '#libs/runtime';
import { ApiModule } from './api.module.js';

await startProcess('api', async () => {
  const config = readConfig();
  const app = await createHttpApplication(ApiModule.forConfig(config));
  await app.listen(config.PORT, config.HOST);
});
