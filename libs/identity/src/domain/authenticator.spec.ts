import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { UnavailableError } from '#libs/kernel';
import { Authenticator } from './authenticator.js';
import { UnauthorizedError } from './identity-errors.js';
import type { Login } from './logins.js';
import { FakeLogins } from './logins.fake.js';
import { PasswordCheck } from './password-check.js';
import { fakeHash, FakePasswordHasher } from './password-hasher.fake.js';

const SECOND_MS = 1_000;
const salt = Buffer.alloc(16, 7);

let logins: FakeLogins;
let hasher: FakePasswordHasher;
let authenticator: Authenticator;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  logins = new FakeLogins();
  hasher = new FakePasswordHasher();
  authenticator = new Authenticator(new PasswordCheck(logins, hasher), logins);
});
afterEach(() => {
  vi.useRealTimers();
});

const header = (pair: string) => `Basic ${Buffer.from(pair).toString('base64')}`;
const DEMO = header('demo:demo-secret');

function aLogin(username = 'demo', ...passwords: string[]): Login {
  const login: Login = {
    principal: { userId: '1', username, role: 'account' },
    status: 'active',
    salt,
    credentials: passwords.map((password, index) => ({
      id: String(index + 1),
      hash: fakeHash(password, salt),
    })),
  };
  logins.all.push(login);
  return login;
}

const refused = (sent: string | undefined) =>
  expect(authenticator.authenticate(sent)).rejects.toThrow(UnauthorizedError);

it('knows the user of each of several passwords, with one computation each', async () => {
  aLogin('demo', 'demo-secret', 'new-secret');
  expect(await authenticator.authenticate(DEMO)).toMatchObject({ userId: '1', role: 'account' });
  expect(hasher.computations).toBe(1);
  await authenticator.authenticate(header('demo:new-secret'));
  expect(hasher.computations).toBe(2);
});

it('remembers a verified pair, and no wrong one', async () => {
  aLogin('demo', 'demo-secret');
  for (let time = 0; time < 3; time += 1) await authenticator.authenticate(DEMO);
  expect(hasher.computations).toBe(1);
  for (let time = 0; time < 2; time += 1) await refused(header('demo:demo-secreT'));
  expect(hasher.computations).toBe(3);
});

it('spends one computation on an unknown user, a wrong password and a locked user alike', async () => {
  aLogin('demo', 'demo-secret');
  aLogin('locked', 'demo-secret').status = 'locked';
  aLogin('empty');
  const pairs = ['nobody:x', 'demo:x', 'locked:demo-secret', 'empty:x', '%%:x', ':', 'a\0b:x'];
  for (const [index, pair] of pairs.entries()) {
    await refused(header(pair));
    expect(hasher.computations).toBe(index + 1);
  }
});

it('gives an unknown user the same salt every time, as a known one has', async () => {
  await refused(header('nobody:x'));
  await refused(header('nobody:y'));
  await refused(header('somebody:x'));
  const [first, second, third] = hasher.salts;
  expect(second).toBe(first);
  expect(third).not.toBe(first);
  expect(first).toHaveLength(32);
});

it('refuses a missing and a malformed header without any computation', async () => {
  for (const sent of [undefined, '', 'Basic', 'Bearer abc', 'Basic !!!', header('no-colon')]) {
    await refused(sent);
  }
  expect(hasher.computations).toBe(0);
});

it('looks at the row again when the last look is more than a second old', async () => {
  const login = aLogin('demo', 'demo-secret');
  await authenticator.authenticate(DEMO);
  login.principal = { ...login.principal, role: 'platform' };
  vi.advanceTimersByTime(SECOND_MS);
  expect(await authenticator.authenticate(DEMO)).toMatchObject({ role: 'account' });
  expect(logins.looks).toBe(0);
  vi.advanceTimersByTime(1);
  expect(await authenticator.authenticate(DEMO)).toMatchObject({ role: 'platform' });
  expect(await authenticator.authenticate(DEMO)).toMatchObject({ role: 'platform' });
  expect(logins.looks).toBe(1);
  expect(hasher.computations).toBe(1);
});

it('refuses a locked user after a second, and lets it in again when it is unlocked', async () => {
  const login = aLogin('demo', 'demo-secret');
  await authenticator.authenticate(DEMO);
  login.status = 'locked';
  vi.advanceTimersByTime(SECOND_MS + 1);
  await refused(DEMO);
  login.status = 'active';
  await authenticator.authenticate(DEMO);
});

it('refuses a revoked credential after a second, unless another one has the same password', async () => {
  const login = aLogin('demo', 'demo-secret', 'demo-secret');
  await authenticator.authenticate(DEMO);
  login.credentials.shift();
  vi.advanceTimersByTime(SECOND_MS + 1);
  await authenticator.authenticate(DEMO);
  login.credentials.shift();
  vi.advanceTimersByTime(SECOND_MS + 1);
  await refused(DEMO);
});

it('computes once for identical headers that come together', async () => {
  aLogin('demo', 'demo-secret');
  await Promise.all(Array.from({ length: 20 }, () => authenticator.authenticate(DEMO)));
  expect(hasher.computations).toBe(1);
});

it('looks once for identical headers that come together', async () => {
  aLogin('demo', 'demo-secret');
  await authenticator.authenticate(DEMO);
  vi.advanceTimersByTime(SECOND_MS + 1);
  await Promise.all(Array.from({ length: 20 }, () => authenticator.authenticate(DEMO)));
  expect(logins.looks).toBe(1);
});

it('looks at the row once more when the computation took longer than a second', async () => {
  const login = aLogin('demo', 'demo-secret');
  vi.spyOn(hasher, 'hash').mockImplementationOnce((password, given) => {
    vi.advanceTimersByTime(SECOND_MS + 1);
    login.credentials = [];
    return Promise.resolve(fakeHash(password, given));
  });
  const stored = { id: '1', hash: fakeHash('demo-secret', salt) };
  vi.spyOn(logins, 'find').mockResolvedValueOnce({ ...login, credentials: [stored] });
  await refused(DEMO);
  expect(logins.looks).toBe(1);
});

it('passes on that the store is away, and goes on when it is back', async () => {
  aLogin('demo', 'demo-secret');
  await authenticator.authenticate(DEMO);
  vi.advanceTimersByTime(SECOND_MS + 1);
  logins.failure = new UnavailableError();
  await expect(authenticator.authenticate(DEMO)).rejects.toThrow(UnavailableError);
  await expect(authenticator.authenticate(header('demo:x'))).rejects.toThrow(UnavailableError);
  logins.failure = undefined;
  await authenticator.authenticate(DEMO);
  expect(hasher.computations).toBe(1);
});

it('remembers ten thousand pairs and drops the oldest', async () => {
  aLogin('demo', 'demo-secret');
  // Spellings of one pair: any number of blanks may follow the scheme.
  const spelling = (blanks: number) => DEMO.replace(' ', ' '.repeat(blanks));
  for (let blanks = 1; blanks <= 10_001; blanks += 1) {
    await authenticator.authenticate(spelling(blanks));
  }
  expect(hasher.computations).toBe(10_001);
  await authenticator.authenticate(spelling(2));
  expect(hasher.computations).toBe(10_001);
  await authenticator.authenticate(spelling(1));
  expect(hasher.computations).toBe(10_002);
});
