import { runProcesses } from '#libs/runtime/cluster';

await runProcesses('api', () => import('./server.js'));
