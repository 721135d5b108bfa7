import { randomBytes } from 'node:crypto';
import type { INestApplicationContext } from '@nestjs/common';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  EnvironmentIdTakenError,
  EnvironmentsService,
  IdentityModule,
  UsernameTakenError,
  UsersService,
} from '#libs/identity';
import { NotFoundError } from '#libs/kernel';
import { contextOf } from '../support/context.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';

let database: TestDatabase;
let context: INestApplicationContext;
let users: UsersService;
let environments: EnvironmentsService;

beforeAll(async () => {
  database = await createTestDatabase();
  context = await contextOf(database, [IdentityModule]);
  users = context.get(UsersService);
  environments = context.get(EnvironmentsService);
});
afterAll(async () => {
  await context.close();
  await database.drop();
});

describe('the users service', () => {
  const aName = () => `u${randomBytes(5).toString('hex')}`;
  const platform = { userId: '0', username: 'p', role: 'platform' } as const;

  it('stores a user with its first credential, and fills in the columns that the database generates', async () => {
    const username = aName();
    const before = Date.now();
    const { user, password } = await users.create({
      username,
      role: 'account',
      password: 'long enough',
    });
    expect(password).toBeUndefined();
    expect(user.id).toMatch(/^\d+$/);
    expect(user.joinDate.getTime()).toBeGreaterThan(before - 60_000);
    const shown = await users.show(user.id, platform);
    expect(shown.user).toEqual(user);
    expect(shown.credentials).toHaveLength(1);
    expect(await users.findByUsername(username)).toEqual(user);
  });

  it('shows a generated password once, and stores no password in plain text', async () => {
    const { user, password } = await users.create({ username: aName(), role: 'account' });
    expect(password).toHaveLength(24);
    const rows = await database.query('SELECT * FROM users u JOIN credentials c ON user_id = u.id');
    expect(JSON.stringify(rows)).not.toContain(password);
    const added = await users.addCredential(user.id);
    expect(added.password).toHaveLength(24);
    expect(added.password).not.toBe(password);
  });

  it('gives a username to one of many concurrent requests, and stores nothing of the others', async () => {
    const username = aName();
    const [row] = await database.query<{ n: number }>('SELECT count(*)::int AS n FROM credentials');
    const tries = await Promise.allSettled(
      Array.from({ length: 5 }, () => users.create({ username, role: 'account' })),
    );
    const failures = tries.flatMap((one) =>
      one.status === 'rejected' ? [one.reason as unknown] : [],
    );
    expect(failures).toHaveLength(4);
    for (const failure of failures) expect(failure).toBeInstanceOf(UsernameTakenError);
    const [after] = await database.query<{ n: number }>(
      'SELECT count(*)::int AS n FROM credentials',
    );
    expect(after!.n).toBe(row!.n + 1);
  });

  it('removes a credential only of the user that is named', async () => {
    const one = (await users.create({ username: aName(), role: 'account' })).user;
    const two = (await users.create({ username: aName(), role: 'account' })).user;
    const { credential } = await users.addCredential(one.username);
    await expect(users.removeCredential(two.id, credential.id)).rejects.toThrow(NotFoundError);
    await users.removeCredential(one.id, credential.id);
    await expect(users.removeCredential(one.id, credential.id)).rejects.toThrow(NotFoundError);
    expect((await users.show(one.id, platform)).credentials).toHaveLength(1);
  });

  it('keeps a platform user from locking itself or removing its own last credential', async () => {
    const { user } = await users.create({ username: aName(), role: 'platform' });
    const self = { userId: user.id, username: user.username, role: 'platform' } as const;
    const refusal = { code: 'own_access', kind: 'conflict' };
    await expect(users.setStatus(user.id, 'locked', self)).rejects.toMatchObject(refusal);
    await users.setStatus(user.id, 'active', self);
    const { credentials } = await users.show(user.id, platform);
    const first = credentials[0]!.id;
    await expect(users.removeCredential(user.id, first, self)).rejects.toMatchObject(refusal);
    const { credential } = await users.addCredential(user.id);
    // Each request would leave one credential; together they would leave none, so one has to be
    // refused.
    const both = await Promise.allSettled([
      users.removeCredential(user.id, first, self),
      users.removeCredential(user.id, credential.id, self),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect((await users.show(user.id, platform)).credentials).toHaveLength(1);
    // Another platform user may, and so may the command line.
    await users.setStatus(user.id, 'locked', platform);
    const [left] = (await users.show(user.id, platform)).credentials;
    await users.removeCredential(user.id, left!.id);
  });
});

describe('a credential that expires', () => {
  const inAnHour = () => new Date(Date.now() + 3_600_000);
  const platform = { userId: '0', username: 'p', role: 'platform' } as const;

  it("is shown with its expiry, and is never a user's first credential", async () => {
    const expiresAt = inAnHour();
    const { user } = await users.create({ username: 'with-end', role: 'account' });
    const { credential } = await users.addCredential(user.id, { expiresAt });
    expect(await users.showCredential(user.id, credential.id, platform)).toMatchObject({
      expiresAt,
    });
    const { credentials } = await users.show(user.id, platform);
    expect(credentials.map((one) => one.expiresAt)).toEqual([null, expiresAt]);
  });
});

describe('the environments service', () => {
  const special = { name: 'Special', type: 'special', billable: false } as const;

  it('has development as 1 and production as 2', async () => {
    expect(await environments.get('1')).toMatchObject({ type: 'development', billable: false });
    expect(await environments.get('2')).toMatchObject({ type: 'production', billable: true });
    expect(await environments.exists('1')).toBe(true);
    for (const id of ['99', '01', 'x', '']) expect(await environments.exists(id)).toBe(false);
  });

  it('skips chosen ids when it generates one', async () => {
    for (const id of ['3', '4', '5', '0', '9223372036854775807']) {
      expect((await environments.create({ ...special, id })).id).toBe(id);
    }
    expect((await environments.create(special)).id).toBe('6');
    expect((await environments.create(special)).id).toBe('7');
  });

  it('refuses an id that is taken and keeps the environment that has it', async () => {
    const create = environments.create({ ...special, id: '1' });
    await expect(create).rejects.toThrow(EnvironmentIdTakenError);
    expect(await environments.get('1')).toMatchObject({ type: 'development' });
  });

  it('lists environments in numeric order', async () => {
    const ids = (await environments.list({ limit: 100 })).map(({ id }) => id);
    expect(ids).toEqual(['0', '1', '2', '3', '4', '5', '6', '7', '9223372036854775807']);
  });
});
