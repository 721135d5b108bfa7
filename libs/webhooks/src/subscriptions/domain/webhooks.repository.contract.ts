import { expect, it } from 'vitest';
import type { Page, Sealed, Transactions } from '#libs/kernel';
import { Filter } from '../../event-kinds/domain/filter.js';
import { NEXT } from './subscription-life.js';
import type { NewWebhook, SealedKey } from './webhook.js';
import type { WebhookFilter, WebhooksRepository } from './webhooks.repository.js';

/** Subscriptions under test. */
export interface WebhooksUnderTest {
  webhooks: () => WebhooksRepository;
  transactions: () => Transactions;
  /** @returns the id of a new account */
  anAccount: () => Promise<string>;
  /** @returns the id of a new application of the account */
  anApplication: (accountId: string) => Promise<string>;
}

/** What every implementation of {@link WebhooksRepository} must do. */
export function webhooksRepositoryContract(underTest: WebhooksUnderTest): void {
  const { webhooks, transactions, anAccount, anApplication } = underTest;
  const key = (secret: string): SealedKey => ({ secret: secret as Sealed, publicKey: null });
  const content = (fields: Partial<NewWebhook> = {}): NewWebhook & SealedKey => ({
    name: 'hook',
    event: 'cdrCreated',
    resource: 'all',
    filter: new Filter('{"a":1}'),
    filterId: 'one',
    targetUrl: 'https://***@target.example/',
    userinfo: 'user:pass' as Sealed,
    payload: '{"a":1}',
    enabled: true,
    retry: { schedule: [1], timeoutMs: 2_000 },
    headers: { A: 'one' as Sealed },
    maxPerSecond: 10,
    maxConcurrent: 2,
    ordered: true,
    accounts: 'all',
    ...key('whsec_first'),
    ...fields,
  });

  it('finds a subscription of its account and application only, also to lock it', async () => {
    const [accountId, other] = [await anAccount(), await anAccount()];
    const applicationId = await anApplication(accountId);
    const id = await webhooks().add({ accountId, applicationId }, content());
    const found = await webhooks().find({ accountId, id });
    expect(found).toMatchObject({
      ...content(),
      ...{ id, accountId, applicationId, version: 1, generation: 1, targetVersion: 1 },
      ...{ retiredSecrets: [], paused: false, backlog: false, cancelling: false, failures: 0 },
      ...{ disabledReason: null, holdUntil: null, failingSince: null, openUntil: null },
    });
    expect(await webhooks().find({ accountId, id, applicationId })).toEqual(found);
    const elsewhere = await anApplication(accountId);
    expect(await webhooks().find({ accountId, id, applicationId: elsewhere })).toBeUndefined();
    expect(await webhooks().find({ accountId: other, id })).toBeUndefined();
    expect(await webhooks().find({ accountId, id: '999999999' })).toBeUndefined();
    const lock = () => webhooks().find({ accountId, id }, { lock: true });
    expect(await transactions().run(lock)).toEqual(found);
  });

  it('lists and counts by level, and filters the list', async () => {
    const accountId = await anAccount();
    const applicationId = await anApplication(accountId);
    const add = (fields: Partial<NewWebhook>, of = {}) =>
      webhooks().add({ accountId, ...of }, content(fields));
    const calls = await add({ resource: 'call,conference' });
    const messages = await add({ resource: 'sms', event: 'smsdlr', enabled: false });
    const ofApplication = await add({}, { applicationId });
    await webhooks().add({ accountId: await anAccount() }, content());
    const listed = async (filter: Partial<WebhookFilter>, page: Page = { limit: 10 }) =>
      (await webhooks().list({ accountId, scope: 'all', ...filter }, page)).map(({ id }) => id);
    expect(await listed({})).toEqual([calls, messages, ofApplication]);
    expect(await listed({}, { after: calls, limit: 1 })).toEqual([messages]);
    expect(await listed({ scope: 'account' })).toEqual([calls, messages]);
    expect(await listed({ scope: { applicationId } })).toEqual([ofApplication]);
    expect(await listed({ event: 'smsdlr' })).toEqual([messages]);
    expect(await listed({ enabled: true })).toEqual([calls, ofApplication]);
    expect(await listed({ resource: 'call' })).toEqual([calls, ofApplication]);
    expect(await listed({ resource: 'all' })).toEqual([ofApplication]);
    const count = (of = {}) => transactions().run(() => webhooks().count({ accountId, ...of }));
    expect([await count(), await count({ applicationId })]).toEqual([2, 1]);
  });

  it('stores a revision as the next version', async () => {
    const accountId = await anAccount();
    const id = await webhooks().add({ accountId }, content());
    await webhooks().revise(id, { name: null, enabled: false, generation: NEXT, cancelling: true });
    const changed = { name: null, enabled: false, generation: 2, cancelling: true, version: 2 };
    expect(await webhooks().find({ accountId, id })).toMatchObject({ ...content(), ...changed });
    const other = { filter: new Filter('{"a":2}'), filterId: 'two' };
    await webhooks().revise(id, other);
    expect(await webhooks().find({ accountId, id })).toMatchObject(other);
  });

  it('keeps a replaced key signing, but drops expired and excluded keys', async () => {
    const accountId = await anAccount();
    const id = await webhooks().add({ accountId }, content());
    const replace = (secret: string, overlapHours: number, except: string[] = []) =>
      webhooks().replaceKey(id, key(secret), { overlapHours, except: except as Sealed[] });
    const found = async () => (await webhooks().find({ accountId, id }))!;
    const retired = async () => (await found()).retiredSecrets.map(({ secret }) => secret);
    await replace('whsec_second', 24);
    await replace('whsec_third', 24);
    expect(await found()).toMatchObject({ ...key('whsec_third'), version: 1 });
    expect(await retired()).toEqual(['whsec_second', 'whsec_first']);
    const until = Date.parse((await found()).retiredSecrets[0]!.until);
    expect((until - Date.now()) / 3_600_000).toBeCloseTo(24, 1);
    await replace('whsec_fourth', 24, ['whsec_second']);
    expect(await retired()).toEqual(['whsec_third', 'whsec_first']);
    await replace('whsec_fifth', 0);
    expect(await retired()).toEqual(['whsec_third', 'whsec_first']);
    for (let more = 0; more < 12; more += 1) await replace(`whsec_more${String(more)}`, 24);
    expect(await retired()).toHaveLength(10);
  });

  it('removes one subscription, or those of an application', async () => {
    const accountId = await anAccount();
    const applicationId = await anApplication(accountId);
    const kept = await webhooks().add({ accountId }, content());
    const alone = await webhooks().add({ accountId }, content());
    const of = await webhooks().add({ accountId, applicationId }, content());
    expect(await webhooks().remove({ id: alone })).toEqual([{ id: alone, accountId }]);
    expect(await webhooks().remove({ applicationId })).toEqual([{ id: of, accountId }]);
    expect(await webhooks().remove({ applicationId })).toEqual([]);
    expect(await webhooks().find({ accountId, id: alone })).toBeUndefined();
    const left = await webhooks().list({ accountId, scope: 'all' }, { limit: 10 });
    expect(left.map(({ id }) => id)).toEqual([kept]);
  });
}
