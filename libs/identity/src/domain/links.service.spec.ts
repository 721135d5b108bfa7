import { beforeEach, expect, it } from 'vitest';
import { ForbiddenError, NotFoundError, RateLimitedError } from '#libs/kernel';
import { FakeAuditTrail, FakeTransactions } from '../../../kernel/src/ports.fake.js';
import type { Role } from './access.js';
import { LinkEndedError, UnauthorizedError, UserNotActiveError } from './identity-errors.js';
import { AccountClosings } from './account-closings.js';
import { FakeLinks } from './links.fake.js';
import { LinksService } from './links.service.js';
import { LocalLoginFailures } from './login-failures.js';
import { FakeLogins, FakePasswordHasher } from './logins.fake.js';
import { FakeCredentialsRepository, FakeUsersRepository } from './repositories.fake.js';
import { FakeSessions } from './sessions.fake.js';
import type { User } from './user.js';
import { UsersService } from './users.service.js';

const ADDRESS = '192.0.2.1';
const READING = { scope: 'read', seconds: 600 } as const;
/** Who creates a link. */
type Maker = Parameters<LinksService['create']>[2];
const maker = (userId: string, role: Role): Maker => ({ userId, role, credentialId: '7' });
const OPERATOR = maker('0', 'operator');

let logins: FakeLogins;
let links: FakeLinks;
let audit: FakeAuditTrail;
let users: UsersService;
let service: LinksService;

beforeEach(() => {
  const transactions = new FakeTransactions();
  logins = new FakeLogins();
  links = new FakeLinks(logins);
  audit = new FakeAuditTrail(transactions);
  users = new UsersService(
    new FakeUsersRepository(),
    new FakeCredentialsRepository(),
    new FakeSessions(logins, links),
    new FakePasswordHasher(),
    transactions,
    audit,
    new AccountClosings(),
  );
  logins.all.push({
    user: { userId: '0', username: 'maker', role: 'operator' },
    status: 'active',
    salt: Buffer.alloc(16),
    credentials: [{ id: '7', hash: Buffer.alloc(32), scope: 'manage' }],
  });
  service = new LinksService(users, links, new LocalLoginFailures(), transactions, audit);
});

async function aUser(role: Role = 'account', username = 'demo'): Promise<User> {
  const { user } = await users.create({ username, role });
  const { id: userId, salt } = user;
  logins.all.push({ user: { userId, username, role }, status: 'active', salt, credentials: [] });
  return user;
}

const own = ({ id, role }: User) => maker(id, role);

it('creates a link, whose token is not stored and logs in as the user with its scope', async () => {
  const user = await aUser();
  const { token, endsAt } = await service.create('demo', READING, own(user));
  expect(Math.abs(endsAt.getTime() - Date.now() - 600_000)).toBeLessThan(10_000);
  expect(JSON.stringify(links.rows)).not.toContain(token);
  expect(await service.authenticate(token, ADDRESS)).toEqual({
    linkId: '1',
    principal: { userId: user.id, username: 'demo', role: 'account', scope: 'read' },
  });
  expect(audit.entries.at(-1)).toEqual({
    action: 'link.create',
    resourceId: '1',
    accountId: user.id,
  });
});

it.each([
  ['itself', 'account', (user: User) => own(user), undefined],
  ['an operator', 'account', () => OPERATOR, undefined],
  ['an operator', 'operator', () => OPERATOR, undefined],
  ['an operator', 'platform', () => OPERATOR, ForbiddenError],
  ['a platform user', 'platform', () => maker('0', 'platform'), undefined],
  ['an operator', 'reporter', () => OPERATOR, ForbiddenError],
  ['another customer', 'account', () => maker('9', 'account'), NotFoundError],
] as const)('is asked by %s for a link of a user of the role %s', async (_by, role, by, error) => {
  const user = await aUser(role);
  const created = service.create(user.id, READING, by(user));
  if (error) await expect(created).rejects.toThrow(error);
  else await created;
  expect(links.rows).toHaveLength(error ? 0 : 1);
});

it('creates no link of a locked user', async () => {
  const user = await aUser();
  user.status = 'locked';
  await expect(service.create(user.id, READING, OPERATOR)).rejects.toThrow(UserNotActiveError);
  expect(links.rows).toEqual([]);
});

it('creates no link with a credential that was revoked since the login', async () => {
  const user = await aUser();
  logins.all[0]!.credentials = [];
  await expect(service.create(user.id, READING, OPERATOR)).rejects.toThrow(UnauthorizedError);
  expect(audit.entries.some(({ action }) => action === 'link.create')).toBe(false);
});

it('creates no link for a session that began with a link', async () => {
  const user = await aUser();
  const created = service.create(user.id, READING, { ...own(user), credentialId: undefined });
  await expect(created).rejects.toThrow('A session that began with a link cannot create links.');
  expect(links.rows).toEqual([]);
});

it('refuses a link after the credential that made it is revoked', async () => {
  const user = await aUser();
  const { token } = await service.create(user.id, READING, OPERATOR);
  logins.all[0]!.credentials = [];
  await expect(service.authenticate(token, ADDRESS)).rejects.toThrow(LinkEndedError);
});

it('refuses a used link like one that never existed', async () => {
  const user = await aUser();
  const { token } = await service.create(user.id, READING, own(user));
  links.use('1');
  for (const one of [token, 'unknown', 'x'.repeat(44)]) {
    await expect(service.authenticate(one, ADDRESS)).rejects.toThrow(LinkEndedError);
  }
});

it('refuses an address after 1,000 unknown links', async () => {
  for (let time = 0; time < 1_000; time += 1) {
    await expect(service.authenticate(`wrong ${time}`, ADDRESS)).rejects.toThrow(LinkEndedError);
  }
  await expect(service.authenticate('wrong', ADDRESS)).rejects.toThrow(RateLimitedError);
});
