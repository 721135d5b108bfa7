import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { hostname } from 'node:os';

/** The version of Switchhook, from package.json. */
export const { version: VERSION } = createRequire(import.meta.url)('#package.json') as {
  version: string;
};

/**
 * The name of this process in attempts and in the overview: `host:pid:random`. The random part distinguishes
 * processes with the same pid, which is common in containers.
 */
export const PROCESS_ID = `${hostname()}:${process.pid}:${randomBytes(3).toString('hex')}`;
