import { beforeEach, expect, it } from 'vitest';
import { BusyError, FairSemaphore, ValidationError } from '#libs/kernel';
import { FakeAuditTrail, FakeTransactions } from '../../../kernel/src/ports.fake.js';
import { fakeHash, FakePasswordHasher } from './logins.fake.js';
import { FakeCredentialsRepository, FakeUsersRepository } from './repositories.fake.js';
import { UserImporter } from './user-importer.js';

/** Computes one hash at a time and refuses when more than a hundred wait, as the real one does. */
class BusyPasswordHasher extends FakePasswordHasher {
  private readonly semaphore = new FairSemaphore(
    { atOnce: 1, waitingOfOne: 100 },
    () => new BusyError('busy'),
  );

  override hash(password: string, salt: Buffer): Promise<Buffer> {
    return this.semaphore.run(() => super.hash(password, salt));
  }
}

let repository: FakeUsersRepository;
let credentials: FakeCredentialsRepository;

beforeEach(() => {
  repository = new FakeUsersRepository();
  credentials = new FakeCredentialsRepository();
});

function importerWith(hasher: FakePasswordHasher): UserImporter {
  const transactions = new FakeTransactions();
  const audit = new FakeAuditTrail(transactions);
  return new UserImporter(repository, credentials, hasher, transactions, audit);
}

it('imports more users at once than the password hasher lets wait', async () => {
  const importer = importerWith(new BusyPasswordHasher());
  const records = Array.from({ length: 150 }, (_, index) => ({
    id: index + 1,
    username: `customer-${String(index)}`,
    password: `password-${String(index)}`,
  }));
  const importUsers = await importer.prepare(records);
  expect(await importUsers()).toBe(150);
  expect(credentials.all).toHaveLength(150);
  const last = repository.all.at(-1)!;
  expect(credentials.all.at(-1)).toMatchObject({
    userId: '150',
    hash: fakeHash('password-149', last.salt),
  });
});

it.each(['x'.repeat(201), '🔑'.repeat(201), 'x'.repeat(8) + '\ud800', 'xxxxxxxx\0'])(
  'imports no user with the password %j, with which nobody could log in',
  async (password) => {
    const records = [{ id: 1, username: 'customer', password }];
    await expect(importerWith(new FakePasswordHasher()).prepare(records)).rejects.toThrow(
      ValidationError,
    );
  },
);
