import { expect, it } from 'vitest';
import type { Transactions } from '#libs/kernel';
import { contentOf } from './application.js';
import type { ApplicationImports } from './application-imports.js';

/** Imports under test. */
export interface ImportsUnderTest {
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
