import { Injectable } from '@nestjs/common';
import { prepared, TypeOrmTransactions } from '#libs/runtime';
import { Links, type NewLink } from '../domain/links.service.js';
import type { LinkMatch, Principal } from '../domain/logins.js';
import { UNEXPIRED } from './postgres-logins.js';

/** SQL: whether a link `l` can still begin a session. */
export const OPEN = '(l.used_at IS NULL AND l.ends_at > now())';

/** How many links that have ended each new one removes, so that they do not pile up. */
const CLEARED = 10;

/**
 * Locks both users and the credential, so that none is stored while one of them is locked or revoked. A credential's expiry
 * never changes, so the link ends by it, too.
 */
export const INSERT_LINK = prepared<NewLink, { id: string; endsAt: Date }>(
  'links.insert',
  `
WITH ended AS (
  SELECT id FROM links WHERE ends_at < now()
  ORDER BY ends_at LIMIT ${CLEARED} FOR UPDATE SKIP LOCKED
), removed AS (
  DELETE FROM links l USING ended WHERE l.id = ended.id
), valid AS (
  SELECT u.id AS user_id, c.id AS credential_id, c.expires_at
  FROM users u CROSS JOIN credentials c JOIN users maker ON maker.id = c.user_id
  WHERE u.id = @userId AND u.status = 'active'
    AND c.id = @credentialId AND maker.status = 'active'
    AND ${UNEXPIRED}
  FOR SHARE OF u, maker FOR KEY SHARE OF c
)
INSERT INTO links (hash, user_id, credential_id, scope, ends_at)
SELECT decode(@hash, 'base64'), user_id, credential_id, @scope,
  least(now() + @seconds::integer * interval '1 second', expires_at)
FROM valid
RETURNING id, ends_at AS "endsAt"`,
);

export const FIND_LINK = prepared<{ hash: string }, Principal & Pick<LinkMatch, 'linkId'>>(
  'links.find',
  `
SELECT l.id AS "linkId", u.id AS "userId", u.username, u.role, l.scope
FROM links l JOIN users u ON u.id = l.user_id
WHERE l.hash = decode(@hash, 'base64') AND ${OPEN} AND u.status = 'active'`,
);

@Injectable()
export class PostgresLinks implements Links {
  constructor(private readonly transactions: TypeOrmTransactions) {}

  async insert(link: NewLink): Promise<{ id: string; endsAt: Date } | undefined> {
    const [stored] = await this.transactions.query(INSERT_LINK, { ...link });
    return stored;
  }

  async find(hash: string): Promise<LinkMatch | undefined> {
    const [row] = await this.transactions.query(FIND_LINK, { hash });
    if (!row) return undefined;
    const { linkId, ...principal } = row;
    return { linkId, principal };
  }
}
