import { Injectable } from '@nestjs/common';
import { prepared, TypeOrmTransactions } from '#libs/runtime';
import type { Principal } from '../domain/logins.js';
import { type Session, SESSION_LIFE, Sessions } from '../domain/sessions.service.js';
import { OPEN } from './postgres-links.js';
import { UNEXPIRED } from './postgres-logins.js';

const { longest, idle } = SESSION_LIFE;
/** For each credential; the oldest ones end. */
const MAX_SESSIONS = 20;

interface SessionRow extends Principal, Pick<Session, 'createdAt' | 'expiresAt'> {
  credentialId: string | null;
  linkId: string | null;
}

/** Locks the user and the credential, so that none begins while they are locked or revoked. */
export const INSERT_SESSION = prepared<{ hash: string; credentialId: string }>(
  'sessions.insert',
  `
WITH valid AS (
  SELECT c.id FROM credentials c JOIN users u ON u.id = c.user_id
  WHERE c.id = @credentialId AND u.status = 'active'
    AND ${UNEXPIRED}
  FOR SHARE OF u FOR KEY SHARE OF c
), old AS (
  SELECT hash FROM sessions WHERE credential_id = @credentialId
  ORDER BY created_at DESC OFFSET ${MAX_SESSIONS - 1} FOR UPDATE SKIP LOCKED
), removed AS (
  DELETE FROM sessions s USING old WHERE s.hash = old.hash
)
INSERT INTO sessions (hash, credential_id) SELECT decode(@hash, 'base64'), id FROM valid
RETURNING 1`,
);

/** The update waits for others that use the link or remove it, so it begins one session. */
export const INSERT_SESSION_WITH_LINK = prepared<{ hash: string; linkId: string }>(
  'sessions.insert-with-link',
  `
WITH used AS (
  UPDATE links l SET used_at = now() FROM users u
  WHERE l.id = @linkId AND ${OPEN} AND u.id = l.user_id AND u.status = 'active'
  RETURNING l.id
)
INSERT INTO sessions (hash, link_id) SELECT decode(@hash, 'base64'), id FROM used
RETURNING 1`,
);

export const FIND_SESSION = prepared<{ hash: string }, SessionRow>(
  'sessions.find',
  `
SELECT c.id AS "credentialId", l.id AS "linkId", u.id AS "userId", u.username, u.role,
  coalesce(c.scope, l.scope) AS scope, s.created_at AS "createdAt",
  least(s.created_at + interval '${longest}', s.used_at + interval '${idle}', l.ends_at) AS "expiresAt"
FROM sessions s
  LEFT JOIN credentials c ON c.id = s.credential_id AND ${UNEXPIRED}
  LEFT JOIN links l ON l.id = s.link_id AND l.ends_at > now()
  JOIN users u ON u.id = coalesce(c.user_id, l.user_id)
WHERE s.hash = decode(@hash, 'base64') AND u.status = 'active'
  AND s.created_at > now() - interval '${longest}' AND s.used_at > now() - interval '${idle}'`,
);

/** Never revives a session that has ended. */
export const USE_SESSION = prepared<{ hash: string }>(
  'sessions.use',
  `
UPDATE sessions SET used_at = now()
WHERE hash = decode(@hash, 'base64') AND used_at > now() - interval '${idle}'`,
);

export const REMOVE_SESSION = prepared<{ hash: string }>(
  'sessions.remove',
  "DELETE FROM sessions WHERE hash = decode(@hash, 'base64') RETURNING 1",
);

export const REMOVE_SESSIONS_OF_USER = prepared<{ userId: string }>(
  'sessions.remove-of-user',
  `
WITH removed AS (
  -- With their sessions.
  DELETE FROM links WHERE user_id = @userId
    OR credential_id = ANY (ARRAY(SELECT id FROM credentials WHERE user_id = @userId))
)
DELETE FROM sessions s USING credentials c WHERE c.id = s.credential_id AND c.user_id = @userId`,
);

@Injectable()
export class PostgresSessions implements Sessions {
  constructor(private readonly transactions: TypeOrmTransactions) {}

  async insert(hash: string, credentialId: string): Promise<boolean> {
    const inserted = await this.transactions.query(INSERT_SESSION, { hash, credentialId });
    return inserted.length > 0;
  }

  async insertWithLink(hash: string, linkId: string): Promise<boolean> {
    const values = { hash, linkId };
    return (await this.transactions.query(INSERT_SESSION_WITH_LINK, values)).length > 0;
  }

  async find(hash: string): Promise<Session | undefined> {
    const [row] = await this.transactions.query(FIND_SESSION, { hash });
    if (!row) return undefined;
    const { credentialId, linkId, createdAt, expiresAt, ...principal } = row;
    const login = credentialId === null ? { linkId: linkId! } : { credentialId };
    return { hash, ...login, principal, createdAt, expiresAt };
  }

  async use(hash: string): Promise<void> {
    await this.transactions.query(USE_SESSION, { hash });
  }

  async remove(hash: string): Promise<boolean> {
    return (await this.transactions.query(REMOVE_SESSION, { hash })).length > 0;
  }

  async removeOfUser(userId: string): Promise<void> {
    await this.transactions.query(REMOVE_SESSIONS_OF_USER, { userId });
  }
}
