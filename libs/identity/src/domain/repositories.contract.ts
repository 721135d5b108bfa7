import { expect, it } from 'vitest';
import type { CredentialsRepository } from './credential.js';
import type { EnvironmentsRepository } from './environments.service.js';
import { EnvironmentIdTakenError, UsernameTakenError } from './identity-errors.js';
import type { NewUser, UsersRepository } from './user.js';

/** What every implementation of {@link UsersRepository} must do. */
export function usersRepositoryContract(users: () => UsersRepository): void {
  const aUser = (username: string): NewUser => ({
    username,
    role: 'account',
    status: 'active',
    salt: Buffer.alloc(16, 1),
  });

  it('finds a stored user by its id and by the exact username', async () => {
    const stored = await users().insert(aUser('found'));
    expect(stored.id).toMatch(/^\d+$/);
    expect(Math.abs(Date.now() - stored.joinDate.getTime())).toBeLessThan(60_000);
    expect(await users().findById(stored.id)).toEqual(stored);
    expect(await users().findByUsername('found')).toEqual(stored);
    expect(await users().findByUsername('Found')).toBeUndefined();
    expect(await users().findById('999999999')).toBeUndefined();
  });

  it('refuses a taken username', async () => {
    await users().insert(aUser('taken'));
    await expect(users().insert(aUser('taken'))).rejects.toThrow(UsernameTakenError);
  });

  it('keeps the id and the join date of a user that was created elsewhere', async () => {
    const { id } = await users().insert(aUser('native'));
    const imported = { id: String(Number(id) + 1_000), joinDate: new Date('2016-01-31T12:00:00Z') };
    await users().insert({ ...aUser('imported'), ...imported });
    await users().raiseIds();
    expect(await users().findByUsername('imported')).toMatchObject(imported);
    const later = await users().insert(aUser('later'));
    expect(later.id).toBe(String(Number(imported.id) + 1));
  });

  it('lists users by id, after a given one', async () => {
    for (const name of ['one', 'two', 'three']) await users().insert(aUser(name));
    const all = await users().page({ limit: 100 });
    expect(all.slice(-3).map(({ username }) => username)).toEqual(['one', 'two', 'three']);
    const [, second, third] = all;
    expect(await users().page({ after: second!.id, limit: 1 })).toEqual([third]);
  });

  it('tells whether a status changed', async () => {
    const { id } = await users().insert(aUser('locked'));
    await users().lock(id);
    expect(await users().setStatus(id, 'active')).toBe(false);
    expect(await users().setStatus(id, 'locked')).toBe(true);
    expect(await users().setStatus(id, 'locked')).toBe(false);
    expect(await users().findById(id)).toMatchObject({ status: 'locked' });
    expect(await users().setStatus('999999999', 'locked')).toBe(false);
  });

  it('keeps a user closed, and its username taken while it is being closed', async () => {
    const { id } = await users().insert(aUser('ending'));
    expect(await users().setStatus(id, 'closing')).toBe(true);
    expect(await users().setStatus(id, 'closing')).toBe(false);
    expect(await users().setStatus(id, 'active')).toBe(false);
    expect(await users().findById(id)).toMatchObject({ status: 'closing' });
    await expect(users().insert(aUser('ending'))).rejects.toThrow(UsernameTakenError);
  });
}

/** Credentials under test. */
interface CredentialsUnderTest {
  credentials: () => CredentialsRepository;
  /** @returns the id of a new user without credentials */
  aUser: () => Promise<string>;
}

/** What every implementation of {@link CredentialsRepository} must do. */
export function credentialsRepositoryContract({ credentials, aUser }: CredentialsUnderTest): void {
  const expiresAt = new Date('2100-01-01T00:00:00Z');
  const insert = (userId: string, fill: number) =>
    credentials().insert({
      userId,
      hash: Buffer.alloc(32, fill),
      name: fill === 1 ? null : 'Dashboard',
      scope: fill === 1 ? 'manage' : 'read',
      expiresAt: fill === 1 ? null : expiresAt,
    });

  it("finds a user's credentials in the order of their ids", async () => {
    const [user, other] = [await aUser(), await aUser()];
    const stored = [await insert(user, 1), await insert(user, 2)];
    await insert(other, 3);
    const found = await credentials().findByUser(user);
    expect(found.map(({ id }) => id)).toEqual(stored.map(({ id }) => id));
    expect(found).toMatchObject([
      { userId: user, name: null, scope: 'manage', expiresAt: null, lastUsedAt: null },
      { userId: user, name: 'Dashboard', scope: 'read', expiresAt, lastUsedAt: null },
    ]);
    expect(found.map(({ hash }) => hash[0])).toEqual([1, 2]);
    expect(Math.abs(Date.now() - found[0]!.createdAt.getTime())).toBeLessThan(60_000);
    expect(await credentials().findByUser(await aUser())).toEqual([]);
  });

  it('removes a credential only of its user, and only once', async () => {
    const [user, other] = [await aUser(), await aUser()];
    const { id } = await insert(user, 1);
    expect(await credentials().remove(other, id)).toBe(false);
    expect(await credentials().remove(user, id)).toBe(true);
    expect(await credentials().remove(user, id)).toBe(false);
    expect(await credentials().findByUser(user)).toEqual([]);
  });

  it('removes all credentials of a user', async () => {
    const [user, other] = [await aUser(), await aUser()];
    for (const owner of [user, user, other]) await insert(owner, 1);
    await credentials().removeAll(user);
    expect(await credentials().findByUser(user)).toEqual([]);
    expect(await credentials().findByUser(other)).toHaveLength(1);
  });
}

/** What every implementation of {@link EnvironmentsRepository} must do, from a new installation on. */
export function environmentsRepositoryContract(environments: () => EnvironmentsRepository): void {
  const special = { name: 'Special', type: 'special', billable: true } as const;

  it('initially has development and production', async () => {
    expect(await environments().findById('1')).toMatchObject({ type: 'development' });
    expect(await environments().findById('2')).toMatchObject({ type: 'production' });
    expect(await environments().findById('3')).toBeUndefined();
  });

  it('skips chosen ids when it generates one', async () => {
    expect(await environments().insert({ ...special, id: '3' })).toEqual({ ...special, id: '3' });
    expect((await environments().insert(special)).id).toBe('4');
    expect(await environments().findById('4')).toEqual({ ...special, id: '4' });
  });

  it('refuses a taken id, and keeps its environment', async () => {
    const taken = environments().insert({ ...special, id: '1' });
    await expect(taken).rejects.toThrow(EnvironmentIdTakenError);
    expect(await environments().findById('1')).toMatchObject({ type: 'development' });
  });

  it('lists environments by number, after a given one', async () => {
    for (const id of ['20', '10']) await environments().insert({ ...special, id });
    const ids = async (after?: string) =>
      (await environments().page({ limit: 5, ...(after !== undefined && { after }) })).map(
        ({ id }) => id,
      );
    expect(await ids()).toEqual(['1', '2', '3', '4', '10']);
    expect(await ids('4')).toEqual(['10', '20']);
  });
}
