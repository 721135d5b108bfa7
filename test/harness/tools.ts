import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Program, Programs } from './programs.js';

/** The clone: `npm test`, `npm run test:faults` and `npm run bench` run in it. */
export const ROOT = resolve('.');

/** A store as `tools/lib` starts it: on a free port, ready. */
export interface StartedStore {
  url: string;
  /** Of PostgreSQL: as whom the processes come, who own nothing. */
  roleUrls?: { api: string; worker: string };
  exited: Program['exited'];
}

interface StartPostgres {
  startPostgres: (
    where: { dir: string; root: string; database: string; settings?: Record<string, string> },
    programs: Programs,
  ) => Promise<StartedStore>;
}
interface StartRedis {
  startRedis: (dir: string, programs: Programs) => Promise<StartedStore>;
}
interface Net {
  freePort: () => Promise<number>;
}

/** What `npm start` starts its stores with. It is JavaScript: needed before anything is compiled. */
async function tool<Module>(name: string): Promise<Module> {
  return (await import(pathToFileURL(resolve(ROOT, 'tools/lib', name)).href)) as Module;
}

export const { startPostgres } = await tool<StartPostgres>('postgres.mjs');
export const { startRedis } = await tool<StartRedis>('redis.mjs');
export const { freePort } = await tool<Net>('net.mjs');
