import { runProcesses } from '#libs/runtime/cluster';

await runProcesses('worker', () => import('./server.js'));
