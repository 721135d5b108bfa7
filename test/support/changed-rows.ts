import pg from 'pg';
import { eventually } from '#tools/eventually';
import type { TestDatabase } from './database.js';

const WAITING = `SELECT count(*)::integer AS count FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock'`;

/**
 * Runs a statement that must wait for another transaction, which changes these deliveries and then commits.
 * @returns the rows of the statement
 */
export async function afterChangesOf<Row extends pg.QueryResultRow>(
  database: TestDatabase,
  ids: readonly string[],
  statement: string,
  values: unknown[],
): Promise<Row[]> {
  const other = new pg.Client({ connectionString: database.url });
  const own = new pg.Client({ connectionString: database.url });
  try {
    await Promise.all([other.connect(), own.connect()]);
    await other.query('BEGIN');
    await other.query('UPDATE deliveries SET attempts = attempts + 1 WHERE id = ANY ($1)', [ids]);
    const waits = eventually(
      async () => (await database.query<{ count: number }>(WAITING))[0]!.count,
      (count) => count > 0,
    );
    const [{ rows }] = await Promise.all([
      own.query<Row>(statement, values),
      waits.then(() => other.query('COMMIT')),
    ]);
    return rows;
  } finally {
    await Promise.all([other.end(), own.end()]);
  }
}
