import { migrationOf } from '#libs/runtime';

/** Moves the sequence past the ids of imported users. */
export const importedUsers = migrationOf(
  'ImportedUsers1763790000002',
  `
CREATE FUNCTION raise_user_ids() RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path FROM CURRENT AS $$
  SELECT setval('users_id_seq', max(id)) FROM users
  HAVING max(id) >= (SELECT last_value FROM users_id_seq)
$$`,
  'REVOKE EXECUTE ON FUNCTION raise_user_ids() FROM PUBLIC',
);
