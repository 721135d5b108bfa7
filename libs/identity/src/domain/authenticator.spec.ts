import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { BusyError, RateLimitedError, UnavailableError } from '#libs/kernel';
import { Authenticator } from './authenticator.js';
import { CredentialUses, type Login } from './logins.js';
import { UnauthorizedError } from './identity-errors.js';
import { FAILURE_WINDOW_MS, LocalLoginFailures } from './login-failures.js';
import { fakeHash, FakeLogins, FakePasswordHasher } from './logins.fake.js';
import { PasswordCheck } from './password-check.js';

const SECOND_MS = 1_000;
const salt = Buffer.alloc(16, 7);

/** Records every use. */
class CredentialUsesSpy extends CredentialUses {
  readonly noted: string[] = [];

  override note(credentialId: string): void {
    this.noted.push(credentialId);
  }
}

let logins: FakeLogins;
let hasher: FakePasswordHasher;
let uses: CredentialUsesSpy;
let authenticator: Authenticator;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  logins = new FakeLogins();
  hasher = new FakePasswordHasher();
  uses = new CredentialUsesSpy();
  const check = new PasswordCheck(logins, hasher);
  authenticator = new Authenticator(check, logins, new LocalLoginFailures(), uses);
});
afterEach(() => {
  vi.useRealTimers();
});

const header = (pair: string) => `Basic ${Buffer.from(pair).toString('base64')}`;
const DEMO = header('demo:demo-secret');

const authenticate = async (sent: string | undefined, address = '192.0.2.1') =>
  (await authenticator.authenticate(sent, () => address)).principal;

function aLogin(username = 'demo', ...passwords: string[]): Login {
  const login: Login = {
    user: { userId: '1', username, role: 'account' },
    status: 'active',
    salt,
    credentials: passwords.map((password, index) => ({
      id: String(index + 1),
      hash: fakeHash(password, salt),
      scope: 'manage',
    })),
  };
  logins.all.push(login);
  return login;
}

const refused = (sent: string | undefined) =>
  expect(authenticate(sent)).rejects.toThrow(UnauthorizedError);

/** Sends ten wrong passwords. */
async function failTenTimes(username = 'demo'): Promise<void> {
  for (let time = 0; time < 10; time += 1) await refused(header(`${username}:wrong ${time}`));
}

it('accepts each of several passwords of a user, with one computation each', async () => {
  aLogin('demo', 'demo-secret', 'new-secret');
  expect(await authenticate(DEMO)).toMatchObject({ userId: '1', role: 'account' });
  expect(hasher.computations).toBe(1);
  await authenticate(header('demo:new-secret'));
  expect(hasher.computations).toBe(2);
});

it('tells the scope of the credential that was used', async () => {
  aLogin('demo', 'demo-secret', 'read-secret').credentials[1]!.scope = 'read';
  expect(await authenticate(DEMO)).toMatchObject({ scope: 'manage' });
  expect(await authenticate(header('demo:read-secret'))).toMatchObject({ scope: 'read' });
});

it('caches a verified pair, but not a wrong one', async () => {
  aLogin('demo', 'demo-secret');
  for (let time = 0; time < 3; time += 1) await authenticate(DEMO);
  expect(hasher.computations).toBe(1);
  for (let time = 0; time < 2; time += 1) await refused(header('demo:demo-secreT'));
  expect(hasher.computations).toBe(3);
});

it('recognises a verified pair in every spelling of its header', async () => {
  aLogin('demo', 'demo-sécret');
  const written = header('demo:demo-sécret');
  const others = [
    written.replace('Basic', 'bAsIc'),
    written.replace(' ', '   '),
    `${written}  `,
    written.replaceAll('=', ''),
    written.replaceAll('+', '-').replaceAll('/', '_'),
    header('demo:demo-sécret'.normalize('NFD')),
    `Basic ${Buffer.from('demo:demo-sécret', 'latin1').toString('base64')}`,
  ];
  for (const other of [written, ...others]) await authenticate(other);
  expect(hasher.computations).toBe(1);
});

it('computes one hash for an unknown user, a wrong password and a locked user', async () => {
  aLogin('demo', 'demo-secret');
  aLogin('locked', 'demo-secret').status = 'locked';
  aLogin('empty');
  const pairs = ['nobody:x', 'demo:x', 'locked:demo-secret', 'empty:x', '%%:x', ':', 'a\0b:x'];
  for (const [index, pair] of pairs.entries()) {
    await refused(header(pair));
    expect(hasher.computations).toBe(index + 1);
  }
});

it('uses the same salt for an unknown user every time, like for a known one', async () => {
  await refused(header('nobody:x'));
  await refused(header('nobody:y'));
  await refused(header('somebody:x'));
  const [first, second, third] = hasher.salts;
  expect(second).toBe(first);
  expect(third).not.toBe(first);
  expect(first).toHaveLength(32);
});

it('refuses a missing or malformed header without computing a hash', async () => {
  for (const sent of [undefined, '', 'Basic', 'Bearer abc', 'Basic !!!', header('no-colon')]) {
    await refused(sent);
  }
  expect(hasher.computations).toBe(0);
});

it('reads the credential again when the last read is more than a second old', async () => {
  const login = aLogin('demo', 'demo-secret');
  await authenticate(DEMO);
  login.user = { ...login.user, role: 'platform' };
  vi.advanceTimersByTime(SECOND_MS);
  expect(await authenticate(DEMO)).toMatchObject({ role: 'account' });
  expect(logins.lookups).toBe(0);
  vi.advanceTimersByTime(1);
  expect(await authenticate(DEMO)).toMatchObject({ role: 'platform' });
  expect(await authenticate(DEMO)).toMatchObject({ role: 'platform' });
  expect(logins.lookups).toBe(1);
  expect(hasher.computations).toBe(1);
});

it('refuses a locked user after a second, and accepts the user again after an unlock', async () => {
  const login = aLogin('demo', 'demo-secret');
  await authenticate(DEMO);
  login.status = 'locked';
  vi.advanceTimersByTime(SECOND_MS + 1);
  await refused(DEMO);
  login.status = 'active';
  await authenticate(DEMO);
});

it('refuses a revoked credential after a second, unless another one has the same password', async () => {
  const login = aLogin('demo', 'demo-secret', 'demo-secret');
  await authenticate(DEMO);
  login.credentials.shift();
  vi.advanceTimersByTime(SECOND_MS + 1);
  await authenticate(DEMO);
  login.credentials.shift();
  vi.advanceTimersByTime(SECOND_MS + 1);
  await refused(DEMO);
});

it('computes one hash for concurrent identical headers', async () => {
  aLogin('demo', 'demo-secret');
  await Promise.all(Array.from({ length: 20 }, () => authenticate(DEMO)));
  expect(hasher.computations).toBe(1);
});

it('reads the credential once for concurrent identical headers', async () => {
  aLogin('demo', 'demo-secret');
  await authenticate(DEMO);
  vi.advanceTimersByTime(SECOND_MS + 1);
  await Promise.all(Array.from({ length: 20 }, () => authenticate(DEMO)));
  expect(logins.lookups).toBe(1);
});

it('reads the credential again when the computation took longer than a second', async () => {
  const login = aLogin('demo', 'demo-secret');
  vi.spyOn(hasher, 'hash').mockImplementationOnce((password, given) => {
    vi.advanceTimersByTime(SECOND_MS + 1);
    login.credentials = [];
    return Promise.resolve(fakeHash(password, given));
  });
  const stored = { id: '1', hash: fakeHash('demo-secret', salt), scope: 'manage' } as const;
  vi.spyOn(logins, 'find').mockResolvedValueOnce({ ...login, credentials: [stored] });
  await refused(DEMO);
  expect(logins.lookups).toBe(1);
});

it('reports an unavailable store, and works again when the store is back', async () => {
  aLogin('demo', 'demo-secret');
  await authenticate(DEMO);
  vi.advanceTimersByTime(SECOND_MS + 1);
  logins.failure = new UnavailableError();
  await expect(authenticate(DEMO)).rejects.toThrow(UnavailableError);
  await expect(authenticate(header('demo:x'))).rejects.toThrow(UnavailableError);
  logins.failure = undefined;
  await authenticate(DEMO);
  expect(hasher.computations).toBe(1);
});

it('caches the five thousand pairs that were used last', async () => {
  for (let n = 1; n <= 5_002; n += 1) aLogin(`user-${n}`, 'secret');
  const pair = (n: number) => header(`user-${n}:secret`);
  for (let n = 1; n <= 5_002; n += 1) {
    await authenticate(pair(n));
    if (n > 1) await authenticate(pair(2));
  }
  expect(hasher.computations).toBe(5_002);
  await authenticate(pair(4));
  expect(hasher.computations).toBe(5_002);
  await authenticate(pair(1));
  expect(hasher.computations).toBe(5_003);
});

it('refuses even the right password after ten failures of a username at an address, without a hash', async () => {
  aLogin('demo', 'demo-secret');
  await failTenTimes();
  for (const sent of [DEMO, header('demo:wrong'), header('demo:wrong 1')]) {
    await expect(authenticate(sent)).rejects.toThrow(RateLimitedError);
  }
  expect(hasher.computations).toBe(10);
  await failTenTimes('nobody');
  await expect(authenticate(header('nobody:x'))).rejects.toThrow(RateLimitedError);
});

it('asks the client to wait until the end of the window that began with the first failure', async () => {
  aLogin('demo', 'demo-secret');
  await refused(header('demo:first'));
  vi.advanceTimersByTime(60_000);
  for (let time = 0; time < 9; time += 1) await refused(header(`demo:wrong ${time}`));
  await expect(authenticate(DEMO)).rejects.toMatchObject({ retryAfterS: 14 * 60 });
  vi.advanceTimersByTime(FAILURE_WINDOW_MS - 60_000 - 1);
  await expect(authenticate(DEMO)).rejects.toMatchObject({ retryAfterS: 1 });
  vi.advanceTimersByTime(1);
  expect(await authenticate(DEMO)).toMatchObject({ username: 'demo' });
});

it('still accepts a cached pair, other usernames and other addresses after ten failures', async () => {
  aLogin('demo', 'demo-secret', 'new-secret');
  aLogin('other', 'other-secret');
  await authenticate(DEMO);
  await failTenTimes();
  expect(await authenticate(DEMO)).toMatchObject({ username: 'demo' });
  expect(await authenticate(header('other:other-secret'))).toMatchObject({ username: 'other' });
  const elsewhere = authenticate(header('demo:new-secret'), '192.0.2.2');
  expect(await elsewhere).toMatchObject({ username: 'demo' });
});

it('checks only ten of many concurrent wrong passwords', async () => {
  aLogin('demo', 'demo-secret');
  const all = Array.from({ length: 50 }, (_, index) => authenticate(header(`demo:${index}`)));
  const endings = await Promise.allSettled(all);
  const reasons = endings.map(
    (ending) => ending.status === 'rejected' && (ending.reason as unknown),
  );
  expect(reasons.filter((reason) => reason instanceof UnauthorizedError)).toHaveLength(10);
  expect(reasons.filter((reason) => reason instanceof RateLimitedError)).toHaveLength(40);
  expect(hasher.computations).toBe(10);
});

it('resets the failures after the right password', async () => {
  aLogin('demo', 'demo-secret', 'new-secret');
  for (let time = 0; time < 9; time += 1) await refused(header(`demo:wrong ${time}`));
  await authenticate(DEMO);
  await failTenTimes();
  await expect(authenticate(header('demo:new-secret'))).rejects.toThrow(RateLimitedError);
});

it('does not count a login that could not be checked', async () => {
  aLogin('demo', 'demo-secret');
  logins.failure = new UnavailableError();
  for (let time = 0; time < 20; time += 1) {
    await expect(authenticate(header(`demo:${time}`))).rejects.toThrow(UnavailableError);
  }
  logins.failure = undefined;
  await authenticate(DEMO);
});

it('computes one hash at a time, and refuses logins that have waited too long', async () => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
  const computing = new Set<number>();
  let most = 0;
  vi.spyOn(hasher, 'hash').mockImplementation(async (password, given) => {
    computing.add(hasher.computations);
    most = Math.max(most, computing.size);
    await new Promise((resolve) => setTimeout(resolve, 100));
    computing.clear();
    return fakeHash(password, given);
  });
  const all = Array.from({ length: 150 }, (_, index) =>
    authenticate(header(`user${index}:x`), `192.0.2.${index}`),
  );
  const endings = Promise.allSettled(all);
  await vi.advanceTimersByTimeAsync(6_000);
  const reasons = (await endings).map((ending) =>
    ending.status === 'rejected' ? (ending.reason as Error) : undefined,
  );
  expect(most).toBe(1);
  // They may wait for five seconds.
  expect(reasons.filter((reason) => reason instanceof UnauthorizedError)).toHaveLength(50);
  expect(reasons.filter((reason) => reason instanceof BusyError)).toHaveLength(100);
});

it('alternates between addresses, and allows each a hundred pending logins', async () => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
  aLogin('demo', 'demo-secret');
  vi.spyOn(hasher, 'hash').mockImplementation(async (password, given) => {
    await new Promise((resolve) => setTimeout(resolve, 10));
    return fakeHash(password, given);
  });
  const flood = Array.from({ length: 120 }, (_, index) => authenticate(header(`user${index}:x`)));
  const endings = Promise.allSettled(flood);
  let answered = false;
  const other = authenticate(DEMO, '192.0.2.2').then(() => {
    answered = true;
  });
  await vi.advanceTimersByTimeAsync(30);
  expect(answered).toBe(true);
  await vi.advanceTimersByTimeAsync(2_000);
  await other;
  const refusals = (await endings).map((ending) =>
    ending.status === 'rejected' ? (ending.reason as Error).constructor : undefined,
  );
  expect(refusals.filter((refusal) => refusal === UnauthorizedError)).toHaveLength(100);
  expect(refusals.filter((refusal) => refusal === RateLimitedError)).toHaveLength(20);
  const another = authenticate(header('demo:wrong'));
  await expect(another).rejects.toThrow('Too many logins have failed from this address.');
});

it('notes the use of a credential each time it is read, but not when it is refused', async () => {
  aLogin('demo', 'demo-secret');
  await refused(header('demo:wrong'));
  expect(uses.noted).toEqual([]);
  for (let time = 0; time < 3; time += 1) await authenticate(DEMO);
  expect(uses.noted).toEqual(['1']);
  vi.advanceTimersByTime(SECOND_MS + 1);
  await authenticate(DEMO);
  expect(uses.noted).toEqual(['1', '1']);
});

it('verifies and counts nothing when it looks at a verified pair again itself', async () => {
  const login = aLogin('demo', 'demo-secret');
  const match = await authenticator.authenticate(DEMO, () => '192.0.2.1');
  expect(await authenticator.isValid(DEMO, match)).toBe(true);
  login.status = 'locked';
  vi.advanceTimersByTime(SECOND_MS + 1);
  for (let time = 0; time < 200; time += 1) {
    expect(await authenticator.isValid(DEMO, match)).toBe(false);
  }
  expect(hasher.computations).toBe(1);
  login.status = 'active';
  expect(await authenticate(DEMO)).toMatchObject({ username: 'demo' });
});

it('does no work on credentials that are longer than any', async () => {
  aLogin('demo', 'x'.repeat(201));
  const addressOf = vi.fn(() => '192.0.2.1');
  const long = [header(`demo:${'x'.repeat(201)}`), header(`demo:${'\u0301\u0316'.repeat(2_000)}`)];
  for (const sent of long) {
    await expect(authenticator.authenticate(sent, addressOf)).rejects.toThrow(UnauthorizedError);
  }
  const pair = { username: 'demo', password: '\u0301\u0316'.repeat(64_000) };
  const refusal = authenticator.authenticatePair(pair, addressOf);
  await expect(refusal).rejects.toThrow('The credentials are not valid.');
  expect(addressOf).not.toHaveBeenCalled();
  expect(hasher.computations).toBe(0);
});

it('accepts a pair from a body like one from a header', async () => {
  aLogin('demo', 'demo-secret');
  const pair = { username: 'demo', password: 'demo-secret' };
  await authenticator.authenticatePair(pair, () => '192.0.2.1');
  await authenticate(DEMO);
  expect(hasher.computations).toBe(1);
});
