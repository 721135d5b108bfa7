import { statement } from '#libs/runtime';

/** An insert takes its lock before it asks the sequence: meanwhile nobody is given an id. */
export const LOCK_APPLICATIONS = statement('LOCK TABLE applications IN SHARE ROW EXCLUSIVE MODE');

/** The sequence gives out no id that a row has. */
export const RAISE_IDS = statement('SELECT raise_application_ids()');

export const TAKEN_IDS = idsAmong('applications');
export const KNOWN_ACCOUNTS = idsAmong('users');

function idsAmong(table: 'applications' | 'users') {
  return statement<{ ids: readonly string[] }, { id: string }>(
    `SELECT id FROM ${table} WHERE id = ANY (@ids::bigint[])`,
  );
}
