import { requireEmbeddedPostgres, startPostgres } from './postgres.mjs';
import { requireRedis, startRedis } from './redis.mjs';

/**
 * Says early what is missing on this machine.
 * @param {{ databaseUrl?: string, redisUrl?: string }} given the stores that need no starting
 * @throws Problem
 */
export function requireStores({ databaseUrl, redisUrl }) {
  if (!databaseUrl) requireEmbeddedPostgres();
  if (!redisUrl) requireRedis();
}

/**
 * Starts the stores that are not given.
 * @param {{ dir: string, root: string, database: string }} where see startPostgres
 * @param {{ databaseUrl?: string, redisUrl?: string }} given
 * @param {import('./children.mjs').Children} children
 * @param {(name: string, how: string) => void} onExit a store that we started is gone
 * @returns {Promise<{ databaseUrl: string, redisUrl: string, roleUrls?: { api: string,
 *   worker: string } }>} `roleUrls`: see startPostgres
 */
export async function startStores(where, given, children, onExit) {
  const start = async (name, url, starter) => {
    if (url) return { url };
    const store = await starter();
    void store.exited.then((how) => onExit(name, how));
    return store;
  };
  const [postgres, redis] = await Promise.all([
    start('postgres', given.databaseUrl, () => startPostgres(where, children)),
    start('redis', given.redisUrl, () => startRedis(where.dir, children)),
  ]);
  return { databaseUrl: postgres.url, redisUrl: redis.url, roleUrls: postgres.roleUrls };
}
