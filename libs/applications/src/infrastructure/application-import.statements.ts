import { statement } from '#libs/runtime';

/** An insert locks the table before it reads the sequence, so meanwhile no id is assigned. */
export const LOCK_APPLICATIONS = statement('LOCK TABLE applications IN SHARE ROW EXCLUSIVE MODE');

/** Moves the sequence past the ids of all rows. */
export const RAISE_IDS = statement('SELECT raise_application_ids()');

export const TAKEN_IDS = idsAmong('applications');
export const KNOWN_ACCOUNTS = idsAmong('users');

function idsAmong(table: 'applications' | 'users') {
  return statement<{ ids: readonly string[] }, { id: string }>(
    `SELECT id FROM ${table} WHERE id = ANY (@ids::bigint[])`,
  );
}
