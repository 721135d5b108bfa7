import { runProcesses } from '#libs/runtime/cluster';

await runProcesses({
  name: 'worker',
  processes: 'WORKER_PROCESSES',
  load: () => import('./server.js'),
});
