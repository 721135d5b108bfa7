import { beforeEach, expect, it } from 'vitest';
import { NotFoundError } from '#libs/kernel';
import { FakeAuditTrail, FakeTransactions } from '../../../kernel/src/ports.fake.js';
import { FakeEnvironmentsRepository } from './repositories.fake.js';
import { EnvironmentsService } from './environments.service.js';
import { EnvironmentIdTakenError } from './identity-errors.js';

const special = { name: 'Special', type: 'special', billable: false } as const;

let audit: FakeAuditTrail;
let environments: EnvironmentsService;

beforeEach(() => {
  const transactions = new FakeTransactions();
  audit = new FakeAuditTrail(transactions);
  environments = new EnvironmentsService(new FakeEnvironmentsRepository(), transactions, audit);
});

it('knows the environments that exist', async () => {
  expect(await environments.get('2')).toMatchObject({ type: 'production' });
  expect(await environments.exists('2')).toBe(true);
  expect((await environments.list({ after: '1', limit: 10 })).map(({ id }) => id)).toEqual(['2']);
});

it.each(['3', '02', '-2', 'x', ''])('knows no environment "%s"', async (id) => {
  expect(await environments.exists(id)).toBe(false);
  await expect(environments.get(id)).rejects.toThrow(NotFoundError);
});

it('records a new environment, which belongs to no account', async () => {
  const { id } = await environments.create(special);
  expect(await environments.get(id)).toMatchObject(special);
  expect(audit.entries).toEqual([
    { action: 'environment.create', resourceId: id, accountId: null },
  ]);
});

it('records nothing when the id is taken', async () => {
  await expect(environments.create({ ...special, id: '1' })).rejects.toThrow(
    EnvironmentIdTakenError,
  );
  expect(audit.entries).toEqual([]);
});
