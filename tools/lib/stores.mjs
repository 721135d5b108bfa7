import { requireEmbeddedPostgres, startPostgres } from './postgres.mjs';
import { requireRedis, startRedis } from './redis.mjs';

/**
 * @typedef {import('./programs.mjs').Program} Program
 * @typedef {{ databaseUrl?: string | undefined, redisUrl?: string | undefined }} Given
 * @typedef {{ databaseUrl: string, redisUrl: string,
 *   roleUrls: { api: string, worker: string } | undefined }} Stores `roleUrls`: see startPostgres
 */

/**
 * Reports early what this machine lacks.
 * @param {Given} given the stores that are already running
 * @throws Problem
 */
export function requireStores({ databaseUrl, redisUrl }) {
  if (!databaseUrl) requireEmbeddedPostgres();
  if (!redisUrl) requireRedis();
}

/**
 * Starts the stores that are not given.
 * @param {Parameters<typeof startPostgres>[0]} where
 * @param {Given} given
 * @param {import('./programs.mjs').Programs} programs
 * @param {(program: Program, startAgain: () => Promise<Program>) => void} watch gets each started store, and a function
 * that restarts it
 * @returns {Promise<Stores>}
 */
export async function startStores(where, given, programs, watch) {
  /**
   * @template {{ url: string, program: Program }} Store
   * @param {string | undefined} url
   * @param {(port?: number) => Promise<Store>} starter
   * @returns {Promise<Store | { url: string, roleUrls?: undefined }>}
   */
  const start = async (url, starter) => {
    if (url) return { url };
    const store = await starter();
    const port = Number(new URL(store.url).port);
    watch(store.program, async () => (await starter(port)).program);
    return store;
  };
  const [postgres, redis] = await Promise.all([
    start(given.databaseUrl, (port) => startPostgres({ ...where, port }, programs)),
    start(given.redisUrl, (port) => startRedis(where.dir, programs, port)),
  ]);
  return { databaseUrl: postgres.url, redisUrl: redis.url, roleUrls: postgres.roleUrls };
}
