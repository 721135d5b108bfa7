import { expect, it } from 'vitest';
import type { Logins } from './logins.js';
import type { Role } from './access.js';
import type { Status } from './user.js';

/** What a store of logins under test can be told to hold. */
interface LoginsUnderTest {
  logins: () => Logins;
  /** @returns the ids of the credentials, one for each hash */
  hold: (user: {
    username: string;
    role: Role;
    status: Status;
    salt: Buffer;
    hashes: Buffer[];
  }) => Promise<string[]>;
  lock: (username: string) => Promise<void>;
  revoke: (credentialId: string) => Promise<void>;
  expire: (credentialId: string) => Promise<void>;
}

const salt = Buffer.alloc(16, 1);
const hashes = [Buffer.alloc(32, 2), Buffer.alloc(32, 3)];

/** What every implementation of {@link Logins} must do. */
export function loginsContract({ logins, hold, lock, revoke, expire }: LoginsUnderTest): void {
  const aUser = (username: string) =>
    hold({ username, role: 'platform', status: 'active', salt, hashes });

  it('finds a user with all its credentials, and only by the exact spelling', async () => {
    const ids = await aUser('found');
    const login = await logins().find('found');
    expect(login).toMatchObject({
      user: { username: 'found', role: 'platform' },
      status: 'active',
      salt,
      credentials: [
        { id: ids[0], hash: hashes[0], scope: 'manage' },
        { id: ids[1], hash: hashes[1], scope: 'manage' },
      ],
    });
    expect(await logins().find('Found')).toBeUndefined();
    expect(await logins().find('unknown')).toBeUndefined();
  });

  it('finds a user without credentials', async () => {
    await hold({ username: 'bare', role: 'account', status: 'active', salt, hashes: [] });
    expect(await logins().find('bare')).toMatchObject({ credentials: [] });
  });

  it('finds a locked user, but no principal for its credentials', async () => {
    const [id] = await aUser('locked');
    expect(await logins().principalOf(id!)).toMatchObject({ username: 'locked', scope: 'manage' });
    await lock('locked');
    expect(await logins().find('locked')).toMatchObject({ status: 'locked' });
    expect(await logins().principalOf(id!)).toBeUndefined();
  });

  it('finds a user without an expired credential, which has no principal', async () => {
    const [first, second] = await aUser('expired');
    await expire(first!);
    expect((await logins().find('expired'))?.credentials.map(({ id }) => id)).toEqual([second]);
    expect(await logins().principalOf(first!)).toBeUndefined();
    expect(await logins().principalOf(second!)).toMatchObject({ role: 'platform' });
    await expire(second!);
    expect(await logins().find('expired')).toMatchObject({ credentials: [] });
  });

  it('knows no principal for a revoked credential, but still for the other', async () => {
    const [first, second] = await aUser('revoked');
    await revoke(first!);
    expect(await logins().principalOf(first!)).toBeUndefined();
    expect(await logins().principalOf(second!)).toMatchObject({ role: 'platform' });
  });
}
