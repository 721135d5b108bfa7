import { loginsContract } from './logins.contract.js';
import { FakeLogins } from './logins.fake.js';

const fake = new FakeLogins();
let lastId = 0;
const withdraw = (id: string): Promise<void> => {
  for (const login of fake.all) {
    login.credentials = login.credentials.filter((credential) => credential.id !== id);
  }
  return Promise.resolve();
};
const loginOf = (username: string) => fake.all.find(({ user }) => user.username === username);
loginsContract({
  logins: () => fake,
  hold: ({ username, role, status, salt, hashes }) => {
    const credentials = hashes.map((hash) => ({
      id: String((lastId += 1)),
      hash,
      scope: 'manage' as const,
    }));
    const user = { userId: String(fake.all.length + 1), username, role };
    fake.all.push({ user, status, salt, credentials });
    return Promise.resolve(credentials.map(({ id }) => id));
  },
  lock: (username) => {
    loginOf(username)!.status = 'locked';
    return Promise.resolve();
  },
  revoke: withdraw,
  // The fake keeps only credentials that have not expired.
  expire: withdraw,
});
