import { expect, it } from 'vitest';
import type { Transactions } from '#libs/kernel';
import { contentOf } from './application.js';
import type { ApplicationImports, ApplicationsRepository } from './applications.repository.js';

/** Applications under test. */
interface ApplicationsUnderTest {
  applications: () => ApplicationsRepository;
  transactions: () => Transactions;
  /** @returns the id of a new account */
  anAccount: () => Promise<string>;
}

/** What every implementation of {@link ApplicationsRepository} must do. */
export function applicationsRepositoryContract(underTest: ApplicationsUnderTest): void {
  const { applications, transactions, anAccount } = underTest;
  const content = contentOf({ name: 'Switchboard', voiceUrl: 'http://voice.example/' });

  it('finds an application only for its own account, also to lock it', async () => {
    const [account, other] = [await anAccount(), await anAccount()];
    const id = await applications().add(account, content);
    const generated = { id, userId: account, partition: null, version: 1, deletedAt: null };
    const found = await applications().find(account, id);
    expect(found).toMatchObject({ ...content, ...generated });
    expect(Math.abs(Date.now() - found!.createdAt.getTime())).toBeLessThan(60_000);
    expect(await applications().find(other, id)).toBeUndefined();
    expect(await applications().find(account, '999999999')).toBeUndefined();
    const locked = await transactions().run(() => applications().find(account, id, { lock: true }));
    expect(locked).toEqual(found);
  });

  it("lists an account's applications by id, after a given one", async () => {
    const [account, other] = [await anAccount(), await anAccount()];
    const ids: string[] = [];
    for (const owner of [account, other, account, account]) {
      const id = await applications().add(owner, content);
      if (owner === account) ids.push(id);
    }
    const listed = async (page: { after?: string; limit: number }) =>
      (await applications().list(account, page)).map(({ id }) => id);
    expect(await listed({ limit: 10 })).toEqual(ids);
    expect(await listed({ after: ids[0]!, limit: 1 })).toEqual([ids[1]]);
  });

  it('stores a revision as the next version, and keeps the other values', async () => {
    const account = await anAccount();
    const id = await applications().add(account, content);
    const before = (await applications().find(account, id))!.updatedAt;
    await applications().revise(id, { name: 'Exchange', messagingUrl: 'http://m.example/' });
    const after = await applications().find(account, id);
    const revised = { name: 'Exchange', messagingUrl: 'http://m.example/', version: 2 };
    expect(after).toMatchObject({ ...content, ...revised });
    expect(after!.updatedAt.getTime()).toBeGreaterThanOrEqual(before.getTime());
  });

  it('neither finds nor lists a removed application', async () => {
    const account = await anAccount();
    const id = await applications().add(account, content);
    await applications().remove(id);
    expect(await applications().find(account, id)).toBeUndefined();
    expect(await applications().list(account, { limit: 10 })).toEqual([]);
  });
}

/** Imports under test. */
interface ImportsUnderTest {
  imports: () => ApplicationImports;
  transactions: () => Transactions;
  /** @returns the id of a new account */
  anAccount: () => Promise<string>;
}

/** What every implementation of {@link ApplicationImports} must do. */
export function applicationImportsContract(underTest: ImportsUnderTest): void {
  const { imports, transactions, anAccount } = underTest;
  const content = contentOf({ name: 'Old', voiceUrl: 'http://voice.example/' });

  it('knows accounts, and no other numbers', async () => {
    const [one, other] = [await anAccount(), await anAccount()];
    const known = await imports().knownAccounts([one, '999999999', other]);
    expect([...known].sort()).toEqual([one, other].sort());
    expect(await imports().knownAccounts([])).toEqual(new Set());
  });

  it('keeps chosen ids, which are then taken, and gives the others higher ones', async () => {
    const userId = await anAccount();
    const record = { ...content, userId, partition: 'Production' };
    const added = await transactions().run(async () => {
      await imports().begin();
      return imports().addAll([record, { ...record, id: '5080983' }]);
    });
    expect(added).toEqual([
      { id: '5080983', userId },
      { id: '5080984', userId },
    ]);
    const ids = ['5080982', '5080983', '5080984'];
    expect(await imports().takenIds(ids)).toEqual(new Set(ids.slice(1)));
  });
}
