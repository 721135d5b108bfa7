import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';

/**
 * This process, as attempts name it: `host:pid:random`. The random part tells apart two processes
 * that had the same pid, as those of containers do.
 */
export const WORKER_ID = `${hostname()}:${process.pid}:${randomBytes(3).toString('hex')}`;
