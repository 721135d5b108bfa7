import cluster from 'node:cluster';

/** What a terminal sends to a whole process group. The primary passes it on, so its children ignore it. */
export const TERMINAL_SIGNALS = ['SIGINT', 'SIGHUP', 'SIGQUIT'] as const;

/** What ends this process in order. */
export const STOP_SIGNALS: readonly NodeJS.Signals[] = cluster.isWorker
  ? ['SIGTERM']
  : ['SIGTERM', 'SIGINT'];
