import { randomBytes } from 'node:crypto';
import { hashRaw } from '@node-rs/argon2';
import type { TestDatabase } from './database.js';

/** Password hashing by OWASP's first recommendation for Argon2id. */
const STORED = { memoryCost: 19_456, timeCost: 2, parallelism: 1, outputLen: 32 };

/** Creates a user directly in the database, with the password `<username>-secret`. */
export async function createUser(
  database: Pick<TestDatabase, 'query'>,
  username: string,
  role: 'account' | 'platform' | 'operator' | 'reporter' = 'account',
): Promise<{ id: string; auth: string }> {
  const salt = randomBytes(16);
  const password = `${username}-secret`;
  const hash = await hashRaw(password, { ...STORED, salt });
  const [user] = await database.query<{ id: string }>(
    `WITH u AS (
       INSERT INTO users (username, role, status, salt) VALUES ($1, $2, 'active', $3) RETURNING id
     ), c AS (INSERT INTO credentials (user_id, hash) SELECT id, $4 FROM u)
     SELECT id FROM u`,
    [username, role, salt, hash],
  );
  if (!user) throw new Error(`${username} was not made`);
  return { id: user.id, auth: `${username}:${password}` };
}
