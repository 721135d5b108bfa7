import { expect, it } from 'vitest';
import type { Sessions } from './sessions.service.js';

/** A store of sessions under test. */
interface SessionsUnderTest {
  sessions: () => Sessions;
  /** @returns the id of a credential of a new active user */
  aCredential: () => Promise<string>;
  /** @returns the id of a link of a new active user, of the scope `read`; undefined if the credential makes none */
  aLink: (seconds: number, credentialId: string) => Promise<string | undefined>;
  revoke: (credentialId: string) => Promise<void>;
  /** Locks the user of a credential and removes its sessions. */
  lock: (credentialId: string) => Promise<void>;
  unlock: (credentialId: string) => Promise<void>;
  /** Moves the session's times into the past. */
  age: (hash: string, minutes: { created: number; used: number }) => Promise<void>;
}

const MINUTE_MS = 60_000;

/** What every implementation of {@link Sessions} must do. */
export function sessionsContract(under: SessionsUnderTest): void {
  const { aCredential, revoke, lock, unlock, age } = under;
  let lastHash = 0;
  const newHash = () => Buffer.alloc(32, (lastHash += 1)).toString('base64');
  const aSession = async (credentialId: string) => {
    const hash = newHash();
    expect(await under.sessions().insert(hash, credentialId)).toBe(true);
    return hash;
  };
  const isValid = async (hash: string) => (await under.sessions().find(hash)) !== undefined;

  it('finds a session with its user, which ends after 30 minutes without a request', async () => {
    const credentialId = await aCredential();
    const hash = await aSession(credentialId);
    const session = await under.sessions().find(hash);
    expect(session).toMatchObject({
      hash,
      credentialId,
      principal: { role: 'account', scope: 'manage' },
    });
    const { createdAt, expiresAt } = session!;
    expect(expiresAt.getTime() - createdAt.getTime()).toBe(30 * MINUTE_MS);
    expect(await isValid(Buffer.alloc(32).toString('base64'))).toBe(false);
  });

  it('extends a session on use, for at most 12 hours', async () => {
    const hash = await aSession(await aCredential());
    await age(hash, { created: 29, used: 29 });
    await under.sessions().use(hash);
    await age(hash, { created: 20, used: 20 });
    expect(await isValid(hash)).toBe(true);
    await age(hash, { created: 11 * 60, used: 0 });
    await under.sessions().use(hash);
    const { createdAt, expiresAt } = (await under.sessions().find(hash))!;
    expect(expiresAt.getTime() - createdAt.getTime()).toBe(12 * 60 * MINUTE_MS);
    await age(hash, { created: 12, used: 0 });
    expect(await isValid(hash)).toBe(false);
  });

  it('does not revive a session that was idle for too long', async () => {
    const hash = await aSession(await aCredential());
    await age(hash, { created: 31, used: 31 });
    expect(await isValid(hash)).toBe(false);
    await under.sessions().use(hash);
    expect(await isValid(hash)).toBe(false);
  });

  it('removes one session, and leaves others of the same credential', async () => {
    const credentialId = await aCredential();
    const [first, second] = [await aSession(credentialId), await aSession(credentialId)];
    expect(await under.sessions().remove(first)).toBe(true);
    expect(await under.sessions().remove(first)).toBe(false);
    expect(await isValid(first)).toBe(false);
    expect(await isValid(second)).toBe(true);
  });

  it('ends the sessions of a revoked credential', async () => {
    const credentialId = await aCredential();
    const hash = await aSession(credentialId);
    await revoke(credentialId);
    expect(await isValid(hash)).toBe(false);
    expect(await under.sessions().insert(newHash(), credentialId)).toBe(false);
  });

  it('does not revive the sessions of a user who was locked, and starts none while locked', async () => {
    const credentialId = await aCredential();
    const [hash, other] = [await aSession(credentialId), await aSession(await aCredential())];
    await lock(credentialId);
    const late = newHash();
    expect(await under.sessions().insert(late, credentialId)).toBe(false);
    await unlock(credentialId);
    expect(await Promise.all([hash, late, other].map(isValid))).toEqual([false, false, true]);
  });

  it('begins one session with a link, which has its scope and its end', async () => {
    const maker = await aCredential();
    const linkId = (await under.aLink(600, maker))!;
    const [hash, another] = [newHash(), newHash()];
    const begun = await Promise.all([
      under.sessions().insertWithLink(hash, linkId),
      under.sessions().insertWithLink(another, linkId),
    ]);
    expect(begun.sort()).toEqual([false, true]);
    const all = await Promise.all([under.sessions().find(hash), under.sessions().find(another)]);
    const session = all.find((one) => one !== undefined)!;
    expect(session).toMatchObject({ linkId, principal: { role: 'account', scope: 'read' } });
    expect(session).not.toHaveProperty('credentialId');
    const lifeMs = session.expiresAt.getTime() - session.createdAt.getTime();
    expect(lifeMs > 590_000 && lifeMs <= 600_000).toBe(true);
    await age(session.hash, { created: 0, used: 31 });
    expect(await isValid(session.hash)).toBe(false);
    const ended = (await under.aLink(0, maker))!;
    expect(await under.sessions().insertWithLink(newHash(), ended)).toBe(false);
  });

  it.each(['revoke', 'lock'] as const)(
    'ends a link and its session after a %s of the credential that made it',
    async (change) => {
      const [maker, other] = [await aCredential(), await aCredential()];
      const [hash, kept] = [newHash(), newHash()];
      const unused = (await under.aLink(600, maker))!;
      await under.sessions().insertWithLink(hash, (await under.aLink(600, maker))!);
      await under.sessions().insertWithLink(kept, (await under.aLink(600, other))!);
      await under[change](maker);
      expect(await under.aLink(600, maker)).toBeUndefined();
      if (change === 'lock') await unlock(maker);
      expect(await under.sessions().insertWithLink(newHash(), unused)).toBe(false);
      expect(await Promise.all([hash, kept].map(isValid))).toEqual([false, true]);
    },
  );

  it('keeps the 20 newest sessions of a credential', async () => {
    const credentialId = await aCredential();
    const hashes: string[] = [];
    for (let made = 0; made < 21; made += 1) {
      const hash = await aSession(credentialId);
      await age(hash, { created: 21 - made, used: 0 });
      hashes.push(hash);
    }
    expect(await isValid(hashes[0]!)).toBe(false);
    expect(await isValid(hashes[1]!)).toBe(true);
    expect(await isValid(hashes[20]!)).toBe(true);
  });
}
