import 'reflect-metadata';
import { createHttpApplication } from '#libs/http';
import { readConfig, startProcess } from '#libs/runtime';
import { WorkerModule } from './worker.module.js';

await startProcess('worker', async () => {
  const config = readConfig();
  const app = await createHttpApplication(WorkerModule.forConfig(config));
  await app.listen(config.WORKER_PORT, config.HOST);
});
