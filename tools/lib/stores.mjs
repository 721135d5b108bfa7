import { requireEmbeddedPostgres, startPostgres } from './postgres.mjs';
import { requireRedis, startRedis } from './redis.mjs';

/**
 * @typedef {{ databaseUrl?: string | undefined, redisUrl?: string | undefined }} Given
 * @typedef {{ databaseUrl: string, redisUrl: string,
 *   roleUrls: { api: string, worker: string } | undefined }} Stores `roleUrls`: see startPostgres
 */

/**
 * Says early what is missing on this machine.
 * @param {Given} given the stores that need no starting
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
 * @param {(problem: Error) => void} onExit a store that we started is gone
 * @returns {Promise<Stores>}
 */
export async function startStores(where, given, programs, onExit) {
  /**
   * @template {{ url: string, program: import('./programs.mjs').Program }} Store
   * @param {string | undefined} url
   * @param {() => Promise<Store>} starter
   * @returns {Promise<Store | { url: string, roleUrls?: undefined }>}
   */
  const start = async (url, starter) => {
    if (url) return { url };
    const store = await starter();
    const { program } = store;
    void program.exited.then((how) => onExit(program.failure(how)));
    return store;
  };
  const [postgres, redis] = await Promise.all([
    start(given.databaseUrl, () => startPostgres(where, programs)),
    start(given.redisUrl, () => startRedis(where.dir, programs)),
  ]);
  return { databaseUrl: postgres.url, redisUrl: redis.url, roleUrls: postgres.roleUrls };
}
