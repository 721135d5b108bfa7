import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';

/**
 * The name of this process in attempts: `host:pid:random`. The random part distinguishes processes with
 * the same pid, which is common in containers.
 */
export const WORKER_ID = `${hostname()}:${process.pid}:${randomBytes(3).toString('hex')}`;
