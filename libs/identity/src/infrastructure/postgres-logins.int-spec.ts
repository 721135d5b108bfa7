import { randomBytes } from 'node:crypto';
import type { INestApplicationContext } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { BackgroundTasks, Database, Log, Metrics } from '#libs/runtime';
import { eventually } from '#tools/eventually';
import { contextOf } from '../../../../test/support/context.js';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { anAccount } from '../../../../test/support/rows.js';
import { Links } from '../domain/links.service.js';
import { Logins } from '../domain/logins.js';
import { loginsContract } from '../domain/logins.contract.js';
import { Sessions } from '../domain/sessions.service.js';
import { sessionsContract } from '../domain/sessions.contract.js';
import type { Status } from '../domain/user.js';
import { UsersService } from '../domain/users.service.js';
import { IdentityModule } from '../identity.module.js';
import { PostgresCredentialUses } from './postgres-logins.js';

let database: TestDatabase;
let context: INestApplicationContext;

beforeAll(async () => {
  database = await createTestDatabase();
  context = await contextOf(database, [IdentityModule]);
});
afterAll(async () => {
  await context.close();
  await database.drop();
});

describe('logins in PostgreSQL', () => {
  loginsContract({
    logins: () => context.get(Logins, { strict: false }),
    hold: async ({ username, role, status, salt, hashes }) => {
      const rows = await database.query<{ id: string | null }>(
        `WITH u AS (
           INSERT INTO users (username, role, status, salt) VALUES ($1, $2, $3, $4) RETURNING id
         )
         INSERT INTO credentials (user_id, hash)
         SELECT u.id, h FROM u, unnest($5::bytea[]) AS h RETURNING id`,
        [username, role, status, salt, hashes],
      );
      return rows.flatMap(({ id }) => id ?? []);
    },
    lock: async (username) => {
      await database.query("UPDATE users SET status = 'locked' WHERE username = $1", [username]);
    },
    revoke: async (id) => {
      await database.query('DELETE FROM credentials WHERE id = $1', [id]);
    },
    expire: async (id) => {
      await database.query('UPDATE credentials SET expires_at = now() WHERE id = $1', [id]);
    },
  });
});

describe('sessions in PostgreSQL', () => {
  sessionsContract({
    sessions: () => context.get(Sessions, { strict: false }),
    aCredential: async () => {
      const [row] = await database.query<{ id: string }>(
        'INSERT INTO credentials (user_id, hash) VALUES ($1, $2) RETURNING id',
        [await anAccount(database), Buffer.alloc(32)],
      );
      return row!.id;
    },
    aLink: async (seconds, credentialId) => {
      const userId = await anAccount(database);
      const hash = randomBytes(32).toString('base64');
      const links = context.get(Links, { strict: false });
      return (await links.insert({ hash, userId, credentialId, scope: 'read', seconds }))?.id;
    },
    revoke: async (id) => {
      await database.query('DELETE FROM credentials WHERE id = $1', [id]);
    },
    age: async (hash, { created, used }) => {
      await database.query(
        `UPDATE sessions SET created_at = created_at - $2 * interval '1 minute',
           used_at = used_at - $3 * interval '1 minute' WHERE hash = decode($1, 'base64')`,
        [hash, created, used],
      );
    },
    lock: (id) => setStatus(id, 'locked'),
    unlock: (id) => setStatus(id, 'active'),
  });

  async function setStatus(credentialId: string, status: Status): Promise<void> {
    const [row] = await database.query<{ userId: string }>(
      'SELECT user_id AS "userId" FROM credentials WHERE id = $1',
      [credentialId],
    );
    await context.get(UsersService).setStatus(row!.userId, status);
  }

  it.each([
    ['its user is locked', "UPDATE users SET status = 'locked' WHERE id = $1"],
    ['its credential is revoked', 'DELETE FROM credentials WHERE user_id = $1'],
  ])('does not begin while %s at the same time', async (_, change) => {
    const { user } = await context
      .get(UsersService)
      .create({ username: `late-${change.slice(0, 6).toLowerCase()}`, role: 'account' });
    const [credential] = await database.query<{ id: string }>(
      'SELECT id FROM credentials WHERE user_id = $1',
      [user.id],
    );
    const other = context.get(DataSource).createQueryRunner();
    await other.startTransaction();
    await other.query(change, [user.id]);
    const hash = Buffer.alloc(32, change).toString('base64');
    const inserted = context.get(Sessions, { strict: false }).insert(hash, credential!.id);
    await eventually(async () => {
      const waiting = await database.query(
        `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%sessions%'`,
      );
      return waiting.length > 0;
    });
    await other.commitTransaction();
    await other.release();
    expect(await inserted).toBe(false);
  });
});

describe('the use of a credential', () => {
  it('is written to the hour, and not again after another process wrote it, or while another writes it', async () => {
    const users = context.get(UsersService);
    const { user } = await users.create({ username: 'in-use', role: 'account' });
    for (let more = 0; more < 2; more += 1) await users.addCredential(user.id);
    const uses = () =>
      database.query<{ id: string; at: string | null }>(
        'SELECT id, last_used_at::text AS at FROM credentials WHERE user_id = $1 ORDER BY id',
        [user.id],
      );
    const ids = (await uses()).map(({ id }) => id);
    const [locked, written] = ids;
    // The next hour may begin during the test.
    await database.query(
      "UPDATE credentials SET last_used_at = date_trunc('hour', now(), 'UTC') + interval '1 hour' WHERE id = $1",
      [written],
    );
    const before = await uses();
    const other = context.get(DataSource).createQueryRunner();
    await other.startTransaction();
    await other.query('SELECT FROM credentials WHERE id = $1 FOR UPDATE', [locked]);
    const tasks = new BackgroundTasks(context.get(Log), new Metrics());
    const noted = new PostgresCredentialUses(tasks, context.get(Database));
    await tasks.onApplicationBootstrap();
    onTestFinished(() => tasks.beforeApplicationShutdown());
    for (const id of ids) noted.note(id);
    const after = await eventually(uses, (all) => all[2]!.at !== null).finally(() =>
      other.rollbackTransaction().then(() => other.release()),
    );
    expect(after.slice(0, 2)).toEqual(before.slice(0, 2));
    expect(after[2]!.at).toMatch(/ \d\d:00:00\+/);
  });
});
