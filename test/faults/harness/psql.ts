import type { Postgres } from '../../support/stores.js';

/** The application name of {@link asPsql}'s session. */
export const PSQL = 'psql';

/**
 * Runs an action while an operator's psql has a transaction open that began with a statement. @returns how many rows
 * the statement found
 */
export async function asPsql(
  postgres: Postgres,
  statement: string,
  values: unknown[],
  meanwhile: () => Promise<unknown>,
): Promise<number> {
  const client = await postgres.connect();
  try {
    await client.query(`SET application_name = '${PSQL}'`);
    await client.query('BEGIN');
    const { rowCount } = await client.query(statement, values);
    await meanwhile();
    await client.query('COMMIT');
    return rowCount ?? 0;
  } finally {
    await client.end();
  }
}
