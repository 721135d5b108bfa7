import pg from 'pg';
import { eventually } from '#tools/eventually';
import type { TestDatabase } from './database.js';

const WAITING = `SELECT count(*)::integer AS count FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock'`;

/**
 * Runs a statement that must wait for another transaction, which has changed these deliveries and commits then.
 * @returns the rows of the statement
 */
export async function afterChangesOf<Row extends pg.QueryResultRow>(
  database: TestDatabase,
  ids: readonly string[],
  statement: string,
  values: unknown[],
): Promise<Row[]> {
  const [other, own] = [0, 1].map(() => new pg.Client({ connectionString: database.url }));
  await Promise.all([other!.connect(), own!.connect()]);
  try {
    await other!.query('BEGIN');
    await other!.query('UPDATE deliveries SET attempts = attempts + 1 WHERE id = ANY ($1)', [ids]);
    const result = own!.query<Row>(statement, values);
    await eventually(
      async () => (await database.query<{ count: number }>(WAITING))[0]!.count,
      (count) => count > 0,
    );
    await other!.query('COMMIT');
    return (await result).rows;
  } finally {
    await Promise.all([other!.end(), own!.end()]);
  }
}
