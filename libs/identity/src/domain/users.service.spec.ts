import { beforeEach, describe, expect, it } from 'vitest';
import { ForbiddenError, NotFoundError, ValidationError } from '#libs/kernel';
import { FakeAuditTrail, FakeTransactions } from '../../../kernel/src/ports.fake.js';
import { AccountClosings } from './account-closings.js';
import { FakeCredentialsRepository, FakeUsersRepository } from './repositories.fake.js';
import {
  CredentialLimitReachedError,
  MAX_CREDENTIALS,
  OwnAccessError,
  UserClosedError,
  UsernameTakenError,
} from './identity-errors.js';
import { fakeHash, FakeLogins, FakePasswordHasher } from './logins.fake.js';
import type { ActingUser } from './logins.js';
import type { Role } from './access.js';
import type { User } from './user.js';
import { FakeSessions } from './sessions.fake.js';
import { UsersService } from './users.service.js';

let repository: FakeUsersRepository;
let credentials: FakeCredentialsRepository;
let logins: FakeLogins;
let sessions: FakeSessions;
let audit: FakeAuditTrail;
let transactions: FakeTransactions;
let closings: AccountClosings;
/** The accounts that ended in other contexts. */
let ended: string[];
let users: UsersService;

beforeEach(() => {
  transactions = new FakeTransactions();
  repository = new FakeUsersRepository();
  credentials = new FakeCredentialsRepository();
  logins = new FakeLogins();
  sessions = new FakeSessions(logins);
  audit = new FakeAuditTrail(transactions);
  closings = new AccountClosings();
  ended = [];
  closings.take({
    end: (accountId) => Promise.resolve(void ended.push(accountId)),
    remains: () => Promise.resolve({ events: 2, deliveries: 3 }),
  });
  users = serviceWith(new FakePasswordHasher());
});

const serviceWith = (hasher: FakePasswordHasher) =>
  new UsersService(repository, credentials, sessions, hasher, transactions, audit, closings);

const aUser = async (username = 'demo') => (await users.create({ username, role: 'account' })).user;
const as = ({ id }: User, role: Role = 'account'): ActingUser => ({ userId: id, role });
const OPERATOR: ActingUser = { userId: '0', role: 'operator' };
const PLATFORM: ActingUser = { userId: '0', role: 'platform' };

describe('a new user', () => {
  it('is active, and has a credential with a hash of the given password', async () => {
    const request = { username: 'demo', role: 'platform', password: 'long enough' } as const;
    const { user, password } = await users.create(request);
    expect(password).toBeUndefined();
    expect(user).toMatchObject({ id: '1', username: 'demo', role: 'platform', status: 'active' });
    expect(credentials.all).toMatchObject([
      { userId: '1', hash: fakeHash('long enough', user.salt), expiresAt: null },
    ]);
    expect(audit.entries).toEqual([
      { action: 'user.create', resourceId: '1', accountId: '1' },
      { action: 'credential.create', resourceId: '1', accountId: '1' },
    ]);
  });

  it('gets a generated password, and a salt of its own', async () => {
    const made = [
      await users.create({ username: 'one', role: 'account' }),
      await users.create({ username: 'two', role: 'account' }),
    ];
    expect(new Set(made.map(({ password }) => password)).size).toBe(2);
    expect(new Set(made.map(({ user }) => user.salt.toString('hex'))).size).toBe(2);
    const [{ user, password }] = made as [(typeof made)[0], unknown];
    expect(credentials.all[0]?.hash).toEqual(fakeHash(password!, user.salt));
  });

  it.each([
    ['the username is not valid', { username: '83346', role: 'account' }],
    ['the password is too short', { username: 'demo', role: 'account', password: 'short' }],
  ] as const)('is not stored when %s', async (_, request) => {
    await expect(users.create(request)).rejects.toThrow(ValidationError);
    expect([repository.all, audit.entries]).toEqual([[], []]);
  });

  it('gets no credential when its username is taken', async () => {
    await aUser();
    await expect(aUser()).rejects.toThrow(UsernameTakenError);
    expect(credentials.all).toHaveLength(1);
  });
});

describe('a user', () => {
  it('is found by its id and by its username', async () => {
    const user = await aUser();
    for (const name of [user.id, user.username]) {
      expect((await users.show(name, as(user))).user).toBe(user);
    }
    for (const name of ['2', '01', '-1', 'no one', '', '9223372036854775808']) {
      await expect(users.show(name, as(user))).rejects.toThrow(NotFoundError);
    }
    expect(await users.findByUsername('1')).toBeUndefined();
  });

  it.each(['account', 'reporter', 'operator'] as const)(
    'can be made %s by an operator',
    async (role) => {
      const { user } = await users.create({ username: 'made', role }, OPERATOR);
      expect(user.role).toBe(role);
    },
  );

  it('is shown only to itself and to operators', async () => {
    const [user, other] = [await aUser(), await aUser('other')];
    await expect(users.show(user.id, as(other))).rejects.toThrow(NotFoundError);
    for (const role of ['platform', 'operator'] as const) {
      expect((await users.show(user.id, as(other, role))).credentials).toHaveLength(1);
    }
    await expect(users.show(user.id, as(other, 'reporter'))).rejects.toThrow(NotFoundError);
    await expect(users.showCredential(user.id, '1', as(other))).rejects.toThrow(NotFoundError);
    await expect(users.showCredential(user.id, '2', as(user))).rejects.toThrow(NotFoundError);
    expect(await users.showCredential(user.id, '1', as(user))).toBe(credentials.all[0]);
  });
});

describe('the status of a user', () => {
  it('is recorded only when it changes', async () => {
    const { id } = await aUser();
    for (const status of ['active', 'locked', 'locked', undefined, 'active'] as const) {
      await users.setStatus(id, status);
    }
    expect(audit.entries.slice(2).map(({ action }) => action)).toEqual([
      'user.lock',
      'user.unlock',
    ]);
    expect(repository.all[0]?.status).toBe('active');
  });

  it('has no session left when it is locked', async () => {
    const user = await aUser();
    const credential = { id: '7', hash: Buffer.alloc(0), scope: 'manage' as const };
    const { id: userId, username, role, salt } = user;
    const login = { user: { userId, username, role }, salt, credentials: [credential] };
    logins.all.push({ ...login, status: 'active' });
    await sessions.insert('hash', '7');
    const link = { credentialId: '7', scope: 'read', seconds: 60 } as const;
    await sessions.links.insert({ ...link, hash: 'link', userId });
    await sessions.insertWithLink('hash of a link', '1');
    await users.setStatus(user.id, 'locked');
    expect([sessions.rows, sessions.links.rows]).toEqual([[], []]);
  });

  it('cannot be locked by the user itself, but by another', async () => {
    const user = await aUser();
    await expect(users.setStatus(user.id, 'locked', as(user))).rejects.toThrow(OwnAccessError);
    await users.setStatus(user.id, 'active', as(user));
    expect(user.status).toBe('active');
    await users.setStatus(user.id, 'locked', OPERATOR);
    expect(user.status).toBe('locked');
  });
});

describe('a credential', () => {
  const inAnHour = () => new Date(Date.now() + 3_600_000);

  it("is hashed with the user's salt, and its password is returned only if it was generated", async () => {
    const { id, salt } = await aUser();
    const expiresAt = inAnHour();
    const given = await users.addCredential(id, { password: 'long enough', expiresAt });
    expect(given).toEqual({ credential: credentials.all[1] });
    expect(given.credential).toMatchObject({ hash: fakeHash('long enough', salt), expiresAt });
    const generated = await users.addCredential('demo');
    expect(generated.credential.hash).toEqual(fakeHash(generated.password!, salt));
    expect(audit.entries.slice(2)).toEqual(
      ['2', '3'].map((resourceId) => ({ action: 'credential.create', resourceId, accountId: id })),
    );
  });

  it('cannot expire in the past', async () => {
    const { id } = await aUser();
    const expiresAt = new Date(Date.now() - 1);
    await expect(users.addCredential(id, { expiresAt })).rejects.toThrow(ValidationError);
    expect(credentials.all).toHaveLength(1);
  });

  it('is one of at most ten of its user', async () => {
    const { id } = await aUser();
    expect(MAX_CREDENTIALS).toBe(10);
    for (let count = 1; count < MAX_CREDENTIALS; count += 1) await users.addCredential(id);
    await expect(users.addCredential(id)).rejects.toThrow(CredentialLimitReachedError);
    expect(credentials.all).toHaveLength(MAX_CREDENTIALS);
    expect(repository.locked).toHaveLength(MAX_CREDENTIALS);
  });

  it('is removed only of the user that is named', async () => {
    const [user, other] = [await aUser(), await aUser('other')];
    for (const id of ['2', '3', 'x']) {
      await expect(users.removeCredential(user.id, id)).rejects.toThrow(NotFoundError);
    }
    await users.removeCredential(other.id, '2');
    expect(audit.entries.at(-1)).toEqual({
      action: 'credential.delete',
      resourceId: '2',
      accountId: other.id,
    });
    expect(credentials.all.map(({ id }) => id)).toEqual(['1']);
  });

  it('that is the last valid one cannot be removed by its user, but by others', async () => {
    const user = await aUser();
    const { credential } = await users.addCredential(user.id, { expiresAt: inAnHour() });
    credential.expiresAt = new Date(Date.now() - 1);
    const own = users.removeCredential(user.id, '1', as(user));
    await expect(own).rejects.toThrow(OwnAccessError);
    expect(repository.locked.at(-1)).toBe(user.id);
    expect(audit.entries.some(({ action }) => action === 'credential.delete')).toBe(false);
    await users.removeCredential(user.id, '1', OPERATOR);
    expect(credentials.all.map(({ id }) => id)).toEqual(['2']);
  });

  it('that is the last with the scope manage cannot be removed by its user, but others can', async () => {
    const user = await aUser();
    await users.addCredential(user.id, { scope: 'read' }, as(user));
    const own = users.removeCredential(user.id, '1', as(user));
    await expect(own).rejects.toThrow(OwnAccessError);
    await users.removeCredential(user.id, '2', as(user));
    expect(credentials.all.map(({ id }) => id)).toEqual(['1']);
  });

  it('has a name and a scope, and belongs to the user who adds it', async () => {
    const [user, other] = [await aUser(), await aUser('other')];
    const request = { name: 'Dashboard', scope: 'read' } as const;
    const { credential } = await users.addCredential(user.id, request, as(user));
    expect(credential).toMatchObject(request);
    const { credential: plain } = await users.addCredential(user.id, {}, as(user));
    expect(plain).toMatchObject({ name: null, scope: 'manage' });
    const foreign = users.addCredential(user.id, {}, as(other));
    await expect(foreign).rejects.toThrow(NotFoundError);
    await expect(users.removeCredential(user.id, plain.id, as(other))).rejects.toThrow(
      NotFoundError,
    );
    await expect(users.addCredential(user.id, { name: 'a\nb' })).rejects.toThrow(ValidationError);
  });

  it('that is not the last valid one can be removed by its user', async () => {
    const user = await aUser();
    await users.addCredential(user.id);
    await users.removeCredential(user.id, '1', as(user));
    expect(credentials.all.map(({ id }) => id)).toEqual(['2']);
  });
});

describe('an operator', () => {
  const refused = (change: Promise<unknown>) => expect(change).rejects.toThrow(ForbiddenError);

  it('manages users, but none of the role platform', async () => {
    const customer = await aUser();
    const { user: platform } = await users.create(
      { username: 'switch', role: 'platform' },
      PLATFORM,
    );
    await users.addCredential(customer.id, {}, OPERATOR);
    await users.setStatus(customer.id, 'locked', OPERATOR);
    await refused(users.create({ username: 'another', role: 'platform' }, OPERATOR));
    await refused(users.addCredential(platform.id, {}, OPERATOR));
    await refused(users.removeCredential(platform.id, '2', OPERATOR));
    for (const status of ['locked', 'active', undefined] as const) {
      await refused(users.setStatus(platform.id, status, OPERATOR));
    }
    expect(platform.status).toBe('active');
    expect((await users.show(platform.id, OPERATOR)).credentials).toHaveLength(1);
    await users.setStatus(platform.id, 'locked', PLATFORM);
  });
});

describe('a closed account', () => {
  it('has no credentials and ends everywhere, once, which is recorded', async () => {
    const operator = await aUser('operator');
    const { id } = await aUser();
    const closed = await users.close('demo', as(operator, 'platform'));
    expect(closed).toMatchObject({ id, status: 'closing' });
    expect(await users.close(id, as(operator, 'platform'))).toMatchObject({ status: 'closing' });
    expect(ended).toEqual([id]);
    expect(await credentials.findByUser(id)).toEqual([]);
    const closings = audit.entries.filter(({ action }) => action === 'user.close');
    expect(closings).toEqual([{ action: 'user.close', resourceId: id, accountId: id }]);
  });

  it('shows what remains only while it is being closed', async () => {
    const operator = as(await aUser('operator'), 'platform');
    await aUser();
    expect(await users.show('demo', operator)).not.toHaveProperty('remains');
    const user = await users.close('demo');
    expect(await users.show('demo', operator)).toMatchObject({
      remains: { events: 2, deliveries: 3 },
    });
    user.status = 'closed';
    expect(await users.show('demo', operator)).not.toHaveProperty('remains');
  });

  it('is not the own one', async () => {
    const operator = await aUser('operator');
    const own = users.close('operator', as(operator, 'platform'));
    await expect(own).rejects.toThrow(OwnAccessError);
    expect(ended).toEqual([]);
  });

  it('of a user with the role platform is not closed by an operator', async () => {
    const operator = as(await aUser('operator'), 'operator');
    const { user } = await users.create({ username: 'switch', role: 'platform' });
    await expect(users.close('switch', operator)).rejects.toThrow(ForbiddenError);
    expect((await users.changeable(user.id, undefined)).status).toBe('active');
    await aUser('customer');
    expect(await users.close('customer', operator)).toMatchObject({ status: 'closing' });
  });

  it('can neither be unlocked nor get a credential', async () => {
    const { id } = await aUser();
    await users.close(id);
    await expect(users.setStatus(id, 'active')).rejects.toThrow(UserClosedError);
    await expect(users.addCredential(id)).rejects.toThrow(UserClosedError);
    expect((await users.changeable(id, undefined)).status).toBe('closing');
  });

  it('is not closed by a process that could not remove its data', async () => {
    await aUser();
    closings = new AccountClosings();
    users = serviceWith(new FakePasswordHasher());
    await expect(users.close('demo')).rejects.toThrow('nothing in this process removes');
  });
});
