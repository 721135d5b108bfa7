import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';

/**
 * The name of this process in attempts and in the overview: `host:pid:random`. The random part distinguishes
 * processes with the same pid, which is common in containers.
 */
export const PROCESS_ID = `${hostname()}:${process.pid}:${randomBytes(3).toString('hex')}`;
