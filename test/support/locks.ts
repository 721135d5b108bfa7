import type { Client, Pool, QueryConfig, QueryResult } from 'pg';
import type { DataSource } from 'typeorm';

type Callback = (error: Error | undefined, result?: QueryResult) => void;

const COUNT = 'SELECT count(*)::integer AS locks FROM pg_locks WHERE pid = pg_backend_pid()';
const LABEL_CHARACTERS = 100;

/**
 * Counts the locks that each statement of these connections holds at its end, including those of its transaction so
 * far. Prepared statements use their generic plan, as after many executions.
 * @returns the most locks by statement; read them after the statements have run
 */
export function meterLocks(source: DataSource): Map<string, number> {
  const most = new Map<string, number>();
  const { master } = source.driver as unknown as { master: Pool };
  const metered = new WeakSet<object>();
  master.on('acquire', (client) => {
    if (!metered.has(client)) meter(client, most);
    metered.add(client);
  });
  return most;
}

function meter(client: Client, most: Map<string, number>): void {
  const query = client.query.bind(client) as (
    config: string | QueryConfig,
    values?: unknown[],
  ) => Promise<QueryResult>;
  let inTransaction = false;

  async function metered(given: string | QueryConfig, values?: unknown[]): Promise<QueryResult> {
    const { name, text } = typeof given === 'string' ? { name: undefined, text: given } : given;
    if (/^(?:START|BEGIN|COMMIT|ROLLBACK$)/.test(text)) {
      inTransaction = /^(?:START|BEGIN)/.test(text);
      return query(given, values);
    }
    const isAlone = !inTransaction;
    if (isAlone) await query('BEGIN');
    try {
      const mode = name === undefined ? 'auto' : 'force_generic_plan';
      await query(`SET LOCAL plan_cache_mode = ${mode}`);
      const result = await query(given, values);
      const [row] = (await query(COUNT)).rows as { locks: number }[];
      const label = text.replaceAll(/\s+/g, ' ').trim().slice(0, LABEL_CHARACTERS);
      most.set(label, Math.max(row!.locks, most.get(label) ?? 0));
      if (isAlone) await query('COMMIT');
      return result;
    } catch (error) {
      if (isAlone) await query('ROLLBACK');
      throw error;
    }
  }

  const call = (given: string | QueryConfig, values?: unknown[] | Callback, done?: Callback) => {
    const callback = typeof values === 'function' ? values : done;
    const result = metered(given, Array.isArray(values) ? values : undefined);
    if (!callback) return result;
    result.then(
      (rows) => callback(undefined, rows),
      (error: unknown) => callback(error as Error),
    );
    return undefined;
  };
  client.query = call as unknown as typeof client.query;
}
