import { Injectable } from '@nestjs/common';
import { prepared, TypeOrmTransactions } from '#libs/runtime';
import { Links, type NewLink } from '../domain/links.service.js';
import type { LinkMatch, Principal } from '../domain/logins.js';

/** SQL: whether a link `l` can still begin a session. */
export const OPEN = '(l.used_at IS NULL AND l.ends_at > now())';

/** How many links that have ended each new one removes, so that they do not pile up. */
const CLEARED = 10;

/** Locks the user, so that none is stored while it is locked. */
export const INSERT_LINK = prepared<NewLink, { id: string; endsAt: Date }>(
  'links.insert',
  `
WITH ended AS (
  SELECT id FROM links WHERE ends_at < now()
  ORDER BY ends_at LIMIT ${CLEARED} FOR UPDATE SKIP LOCKED
), removed AS (
  DELETE FROM links l USING ended WHERE l.id = ended.id
), valid AS (
  SELECT id FROM users WHERE id = @userId AND status = 'active' FOR SHARE
)
INSERT INTO links (hash, user_id, scope, ends_at)
SELECT decode(@hash, 'base64'), id, @scope, now() + @seconds::integer * interval '1 second' FROM valid
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
