import { expect, it } from 'vitest';
import type { CredentialsRepository } from './credentials.repository.js';

/** Credentials under test. */
export interface CredentialsUnderTest {
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
      expiresAt: fill === 1 ? null : expiresAt,
    });

  it("finds a user's credentials in the order of their ids", async () => {
    const [user, other] = [await aUser(), await aUser()];
    const stored = [await insert(user, 1), await insert(user, 2)];
    await insert(other, 3);
    const found = await credentials().ofUser(user);
    expect(found.map(({ id }) => id)).toEqual(stored.map(({ id }) => id));
    expect(found).toMatchObject([
      { userId: user, hash: Buffer.alloc(32, 1), expiresAt: null, lastUsedAt: null },
      { userId: user, hash: Buffer.alloc(32, 2), expiresAt, lastUsedAt: null },
    ]);
    expect(Math.abs(Date.now() - found[0]!.createdAt.getTime())).toBeLessThan(60_000);
    expect(await credentials().ofUser(await aUser())).toEqual([]);
  });

  it('removes a credential only of its user, and only once', async () => {
    const [user, other] = [await aUser(), await aUser()];
    const { id } = await insert(user, 1);
    expect(await credentials().remove(other, id)).toBe(false);
    expect(await credentials().remove(user, id)).toBe(true);
    expect(await credentials().remove(user, id)).toBe(false);
    expect(await credentials().ofUser(user)).toEqual([]);
  });
}
