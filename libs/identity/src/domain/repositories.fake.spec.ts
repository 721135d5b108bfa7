import { describe } from 'vitest';
import { credentialsRepositoryContract } from './credentials.repository.contract.js';
import { FakeCredentialsRepository } from './credentials.repository.fake.js';
import { environmentsRepositoryContract } from './environments.repository.contract.js';
import { FakeEnvironmentsRepository } from './environments.repository.fake.js';
import { usersRepositoryContract } from './users.repository.contract.js';
import { FakeUsersRepository } from './users.repository.fake.js';

describe('fake users', () => {
  const users = new FakeUsersRepository();
  usersRepositoryContract(() => users);
});

describe('fake credentials', () => {
  const credentials = new FakeCredentialsRepository();
  let lastUser = 0;
  credentialsRepositoryContract({
    credentials: () => credentials,
    aUser: () => Promise.resolve(String((lastUser += 1))),
  });
});

describe('fake environments', () => {
  const environments = new FakeEnvironmentsRepository();
  environmentsRepositoryContract(() => environments);
});
