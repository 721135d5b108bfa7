import { prepared, statement } from '#libs/runtime';
import type { Principal } from '../domain/principal.js';
import type { Status } from '../domain/user.js';

interface LoginRow extends Principal {
  status: Status;
  salt: Buffer;
  id: string | null;
  hash: Buffer | null;
}

/** A user with its valid credentials: one row for each, or a single row if there are none. */
export const FIND_LOGIN = prepared<{ username: string }, LoginRow>(
  'logins.find',
  `
SELECT u.id AS "userId", u.username, u.role, u.status, u.salt, c.id, c.hash
FROM users u LEFT JOIN credentials c
  ON c.user_id = u.id AND (c.expires_at IS NULL OR c.expires_at > now())
WHERE u.username = @username ORDER BY c.id`,
);

export const PRINCIPAL_OF = prepared<{ credentialId: string }, Principal>(
  'logins.principal-of',
  `
SELECT u.id AS "userId", u.username, u.role
FROM credentials c JOIN users u ON u.id = c.user_id
WHERE c.id = @credentialId AND u.status = 'active'
  AND (c.expires_at IS NULL OR c.expires_at > now())`,
);

/**
 * Locks rows in order of id and without waiting, because other processes write the same rows. Skips rows that
 * were just written.
 */
export const WRITE_USES = prepared<{ ids: string[] }>(
  'credentials.used',
  `
WITH used AS (
  SELECT id FROM credentials
  WHERE id = ANY (@ids::bigint[])
    AND (last_used_at IS NULL OR last_used_at < now() - interval '30 seconds')
  ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE credentials c SET last_used_at = now() FROM used WHERE c.id = used.id`,
);

/** Serialises changes of what belongs to a user. This lock still allows foreign keys to refer to the row. */
export const LOCK_USER = statement<{ id: string }>(
  'SELECT FROM users WHERE id = @id FOR NO KEY UPDATE',
);

export const RAISE_USER_IDS = statement('SELECT raise_user_ids()');
