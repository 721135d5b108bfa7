import { expect, it } from 'vitest';
import { UsernameTaken } from './identity-errors.js';
import type { NewUser, UsersRepository } from './users.repository.js';

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
    await expect(users().insert(aUser('taken'))).rejects.toThrow(UsernameTaken);
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
}
