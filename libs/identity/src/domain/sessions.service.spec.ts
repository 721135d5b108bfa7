import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ForbiddenError, RateLimitedError } from '#libs/kernel';
import { FakeAuditTrail, FakeTransactions } from '../../../kernel/src/ports.fake.js';
import { LinkEndedError, UnauthorizedError } from './identity-errors.js';
import { addressCounter, LocalLoginFailures } from './login-failures.js';
import { LocalRateLimiter } from './rate-limiter.js';
import { FakeLogins } from './logins.fake.js';
import type { Match } from './password-check.js';
import { sessionsContract } from './sessions.contract.js';
import { FakeSessions } from './sessions.fake.js';
import { SessionsService } from './sessions.service.js';

const MINUTE_MS = 60_000;
const match: Match = {
  credentialId: '7',
  principal: { userId: '1', username: 'demo', role: 'account', scope: 'manage' },
};

let logins: FakeLogins;
let sessions: FakeSessions;
let failures: LocalLoginFailures;
let audit: FakeAuditTrail;
let service: SessionsService;

function addLogin(credentialId: string, userId = '1'): void {
  logins.all.push({
    user: { userId, username: 'demo', role: 'account' },
    status: 'active',
    salt: Buffer.alloc(16),
    credentials: [{ id: credentialId, hash: Buffer.alloc(32), scope: 'manage' }],
  });
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'Date'] });
  logins = new FakeLogins();
  addLogin('7');
  sessions = new FakeSessions(logins);
  const uses = { note: () => undefined };
  failures = new LocalLoginFailures();
  const transactions = new FakeTransactions();
  audit = new FakeAuditTrail(transactions);
  const limiter = new LocalRateLimiter();
  service = new SessionsService(sessions, failures, limiter, transactions, audit, uses);
});
afterEach(() => {
  vi.useRealTimers();
});

const authenticate = (token: string, address = '192.0.2.1') =>
  service.authenticate(token, () => address);

it('authenticates with the token of a session, which it does not store', async () => {
  const { token, session } = await service.begin(match);
  expect(session).toMatchObject(match);
  expect(await authenticate(token)).toMatchObject(match);
  expect(JSON.stringify(sessions.rows)).not.toContain(token);
});

it('reads the row of a session at most once a second', async () => {
  const { token } = await service.begin(match);
  await authenticate(token);
  const before = logins.lookups;
  for (let time = 0; time < 3; time += 1) await authenticate(token);
  expect(logins.lookups).toBe(before);
});

it('ends a session within a second of its credential', async () => {
  const { token } = await service.begin(match);
  await authenticate(token);
  logins.all.length = 0;
  vi.advanceTimersByTime(1_001);
  await expect(authenticate(token)).rejects.toThrow(UnauthorizedError);
});

it('ends a session at once when its user logs out', async () => {
  const { token } = await service.begin(match);
  await authenticate(token);
  await service.end(token);
  await expect(authenticate(token)).rejects.toThrow(UnauthorizedError);
  await expect(service.show(token)).rejects.toThrow(UnauthorizedError);
});

it('records each login and each logout with the credential, and nothing else', async () => {
  const { token } = await service.begin(match);
  await authenticate(token);
  await service.use(token);
  for (let time = 0; time < 2; time += 1) await service.end(token);
  expect(audit.entries).toEqual([
    { action: 'session.create', resourceId: '7', accountId: '1' },
    { action: 'session.delete', resourceId: '7', accountId: '1' },
  ]);
});

it('begins no session with a credential that has become invalid since it was verified', async () => {
  logins.all[0]!.status = 'locked';
  await expect(service.begin(match)).rejects.toThrow(UnauthorizedError);
  expect([sessions.rows, audit.entries]).toEqual([[], []]);
});

it('extends a session when it is used, and not when a stream checks it', async () => {
  const { token } = await service.begin(match);
  for (let minutes = 0; minutes < 40; minutes += 10) {
    vi.advanceTimersByTime(10 * MINUTE_MS);
    await authenticate(token);
    await service.use(token);
  }
  for (let minutes = 0; minutes < 20; minutes += 10) {
    vi.advanceTimersByTime(10 * MINUTE_MS);
    await authenticate(token);
  }
  vi.advanceTimersByTime(11 * MINUTE_MS);
  await expect(authenticate(token)).rejects.toThrow(UnauthorizedError);
});

it('refuses an address after 1,000 unknown tokens, but not a known session', async () => {
  const { token } = await service.begin(match);
  await authenticate(token);
  for (let time = 0; time < 1_000; time += 1) {
    await expect(authenticate(`wrong ${time}`)).rejects.toThrow(UnauthorizedError);
  }
  await expect(authenticate('wrong')).rejects.toThrow(RateLimitedError);
  expect(await authenticate(token)).toMatchObject(match);
});

it('counts nothing when it looks at a session again itself, and reads it at most once a second', async () => {
  const { token, session } = await service.begin(match);
  await authenticate(token);
  vi.advanceTimersByTime(1_001);
  const before = logins.lookups;
  expect(await Promise.all([service.isValid(session), service.isValid(session)])).toEqual([
    true,
    true,
  ]);
  expect(logins.lookups).toBe(before + 1);
  await service.end(token);
  for (let time = 0; time < 2_000; time += 1) expect(await service.isValid(session)).toBe(false);
  await expect(authenticate('unknown')).rejects.toThrow(UnauthorizedError);
});

it('neither refuses a session because of wrong passwords from its address, nor counts as one', async () => {
  const { token } = await service.begin(match);
  const passwords = addressCounter('192.0.2.1');
  const wrong = () =>
    failures.counted(passwords, '', 'undecided', () => Promise.resolve(undefined));
  for (let time = 0; time < 99; time += 1) await wrong();
  await expect(authenticate('ended')).rejects.toThrow(UnauthorizedError);
  await wrong();
  await expect(wrong()).rejects.toThrow(RateLimitedError);
  expect(await authenticate(token)).toMatchObject(match);
});

it('lets a user begin sixty sessions in a minute', async () => {
  for (let time = 0; time < 60; time += 1) await service.begin(match);
  await expect(service.begin(match)).rejects.toThrow(RateLimitedError);
});

it('begins no session of a reporter, which has no access to the console', async () => {
  const principal = { ...match.principal, role: 'reporter' as const };
  await expect(service.begin({ ...match, principal })).rejects.toThrow(ForbiddenError);
  expect([sessions.rows, audit.entries]).toEqual([[], []]);
});

describe('a session of a link', () => {
  const aLink = async (seconds = 3_600) => {
    const hash = randomBytes(32).toString('base64');
    await sessions.links.insert({ hash, userId: '1', credentialId: '7', scope: 'read', seconds });
    return (await sessions.links.find(hash))!;
  };

  it('has the scope of the link, and uses it up', async () => {
    const link = await aLink();
    const { token } = await service.begin(link);
    expect(await authenticate(token)).toMatchObject({
      linkId: link.linkId,
      principal: { scope: 'read' },
    });
    await expect(service.begin(link)).rejects.toThrow(LinkEndedError);
    expect(audit.entries).toEqual([
      { action: 'session.create', resourceId: link.linkId, accountId: '1' },
    ]);
  });

  it('ends with the link, although it is in use', async () => {
    const { token } = await service.begin(await aLink(600));
    vi.advanceTimersByTime(9 * MINUTE_MS);
    await authenticate(token);
    await service.use(token);
    vi.advanceTimersByTime(MINUTE_MS + 1_001);
    await expect(authenticate(token)).rejects.toThrow(UnauthorizedError);
  });
});

describe('fake sessions', () => {
  let lastCredential = 100;
  sessionsContract({
    sessions: () => sessions,
    aCredential: () => {
      const id = String((lastCredential += 1));
      addLogin(id, id);
      return Promise.resolve(id);
    },
    aLink: async (seconds, credentialId) => {
      const userId = String((lastCredential += 1));
      addLogin(userId, userId);
      const hash = randomBytes(32).toString('base64');
      const link = { hash, userId, credentialId, scope: 'read', seconds } as const;
      return (await sessions.links.insert(link))?.id;
    },
    lock: (id) => {
      const login = logins.all.find(({ credentials }) => credentials[0]?.id === id)!;
      login.status = 'locked';
      return sessions.removeOfUser(login.user.userId);
    },
    unlock: (id) => {
      logins.all.find(({ credentials }) => credentials[0]?.id === id)!.status = 'active';
      return Promise.resolve();
    },
    revoke: (id) => {
      logins.all.splice(0, Infinity, ...logins.all.filter((one) => one.credentials[0]?.id !== id));
      return Promise.resolve();
    },
    age: (hash, { created, used }) => {
      const row = sessions.rows.find((one) => one.hash === hash)!;
      row.createdAt -= created * MINUTE_MS;
      row.usedAt -= used * MINUTE_MS;
      return Promise.resolve();
    },
  });
});

it('does not look for a session with a token that is longer than any', async () => {
  const find = vi.spyOn(sessions, 'find');
  await expect(authenticate('x'.repeat(44))).rejects.toThrow(UnauthorizedError);
  expect(find).not.toHaveBeenCalled();
});
