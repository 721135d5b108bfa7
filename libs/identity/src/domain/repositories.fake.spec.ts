import { describe } from 'vitest';
import {
  credentialsRepositoryContract,
  environmentsRepositoryContract,
  usersRepositoryContract,
} from './repositories.contract.js';
import {
  FakeCredentialsRepository,
  FakeEnvironmentsRepository,
  FakeUsersRepository,
} from './repositories.fake.js';

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
