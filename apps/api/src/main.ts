import { runProcesses } from '#libs/runtime/cluster';

await runProcesses({
  name: 'api',
  processes: 'API_PROCESSES',
  load: () => import('./server.js'),
});
