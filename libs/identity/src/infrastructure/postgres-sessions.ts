import { Injectable } from '@nestjs/common';
import { prepared, TypeOrmTransactions } from '#libs/runtime';
import type { Principal } from '../domain/logins.js';
import { type Session, SESSION_LIFE, Sessions } from '../domain/sessions.service.js';
import { UNEXPIRED } from './postgres-logins.js';

const { longest, idle } = SESSION_LIFE;
/** For each credential; the oldest ones end. */
const MAX_SESSIONS = 20;

interface SessionRow extends Principal, Pick<Session, 'credentialId' | 'createdAt' | 'expiresAt'> {}

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

export const FIND_SESSION = prepared<{ hash: string }, SessionRow>(
  'sessions.find',
  `
SELECT c.id AS "credentialId", u.id AS "userId", u.username, u.role, s.created_at AS "createdAt",
  least(s.created_at + interval '${longest}', s.used_at + interval '${idle}') AS "expiresAt"
FROM sessions s JOIN credentials c ON c.id = s.credential_id JOIN users u ON u.id = c.user_id
WHERE s.hash = decode(@hash, 'base64') AND u.status = 'active'
  AND ${UNEXPIRED}
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
DELETE FROM sessions s USING credentials c WHERE c.id = s.credential_id AND c.user_id = @userId`,
);

@Injectable()
export class PostgresSessions implements Sessions {
  constructor(private readonly transactions: TypeOrmTransactions) {}

  async insert(hash: string, credentialId: string): Promise<boolean> {
    const inserted = await this.transactions.query(INSERT_SESSION, { hash, credentialId });
    return inserted.length > 0;
  }

  async find(hash: string): Promise<Session | undefined> {
    const [row] = await this.transactions.query(FIND_SESSION, { hash });
    if (!row) return undefined;
    const { credentialId, createdAt, expiresAt, ...principal } = row;
    return { hash, credentialId, principal, createdAt, expiresAt };
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
