import { beforeEach, describe, expect, it } from 'vitest';
import type { Role } from '#libs/identity/domain';
import { NotFoundError, PreconditionFailedError, ValidationError } from '#libs/kernel';
import { MAX_WEBHOOKS, type WebhookChanges, WebhookLimitReachedError } from './webhook.js';
import { aContent, webhooksOnFakes } from './webhooks.fake.js';
import { MASKED_TARGET, PRIVATE_TARGET, RESERVED_PORT } from './target-url.js';

const ACCOUNT = '1';
const anyVersion = (): void => undefined;
const wrongVersion = (): void => {
  throw new PreconditionFailedError();
};

let fakes: ReturnType<typeof webhooksOnFakes>;
let webhooks: (typeof fakes)['webhooks'];

beforeEach(() => {
  fakes = webhooksOnFakes();
  ({ webhooks } = fakes);
});

const aWebhook = (fields = {}) => webhooks.create({ accountId: ACCOUNT }, aContent(fields));
const anApplication = () =>
  fakes.applications.create(ACCOUNT, { name: 'app', voiceUrl: 'http://voice.example/' });
const update = (id: string, changes: WebhookChanges, check = anyVersion) =>
  webhooks.update({ accountId: ACCOUNT, id }, changes, check);
const updateAs = (role: Role, id: string, changes: WebhookChanges) =>
  webhooks.update({ accountId: ACCOUNT, id }, changes, anyVersion, role);
/** The actions and fields that were recorded since a subscription was created. */
const recorded = () => {
  const created = fakes.audit.entries.findIndex(({ action }) => action === 'webhook.create');
  return fakes.audit.entries.slice(created + 1).map(({ action, fields }) => [action, fields]);
};

describe('a new subscription', () => {
  it('is stored with a sealed key, target and headers, and recorded', async () => {
    const id = await aWebhook({ headers: { A: 'value' } });
    const stored = await webhooks.get(ACCOUNT, id);
    const { secret, userinfo, headers } = stored;
    for (const sealed of [secret, userinfo, headers?.A]) expect(sealed).toMatch(/^sealed:k1:/);
    expect(fakes.secrets.targetUrl(stored)).toBe(aContent().targetUrl);
    expect(fakes.secrets.headers(stored)).toEqual({ A: 'value' });
    expect(await webhooks.verificationKey(ACCOUNT, id)).toEqual({
      secret: expect.stringMatching(/^whsec_/) as string,
    });
    expect(fakes.audit.entries).toEqual([
      { action: 'webhook.create', resourceId: id, accountId: ACCOUNT },
    ]);
  });

  it('has a public key for ed25519', async () => {
    const id = await aWebhook({ signature: 'ed25519' });
    expect(await webhooks.verificationKey(ACCOUNT, id)).toEqual({
      publicKey: expect.stringMatching(/^whpk_/) as string,
    });
  });

  it.each([
    ['two authorizations', { headers: { Authorization: 'x' } }, 'headers'],
    [
      'notices about only some resources',
      { event: 'webhookFailing', resource: 'call' },
      'resource conflicts: the resource of a subscription to webhookFailing must be all.',
    ],
  ])('is refused with %s', async (_, fields, says) => {
    const creation = aWebhook(fields);
    await expect(creation).rejects.toThrow(ValidationError);
    await expect(creation).rejects.toThrow(says);
    expect(fakes.repository.all).toEqual([]);
  });

  it("gets the notices of all accounts only if it is an operator's", async () => {
    const level = { accountId: ACCOUNT };
    const content = aContent({ event: 'webhookFailing', accounts: 'all' });
    await expect(webhooks.create(level, content, 'account')).rejects.toThrow(
      'accounts is only for users with the role platform or operator.',
    );
    const id = await webhooks.create(level, content, 'platform');
    expect(await webhooks.get(ACCOUNT, id)).toMatchObject({ accounts: 'all' });
  });

  it('gets the notices of all accounts only if it is to notices, at account level', async () => {
    const level = { accountId: ACCOUNT };
    const ofApplication = { ...level, applicationId: await anApplication() };
    const content = aContent({ event: 'webhookFailing', accounts: 'all' });
    await expect(webhooks.create(ofApplication, content, 'platform')).rejects.toThrow(
      'accounts is only for subscriptions at account level.',
    );
    const event = 'cdrCreated';
    await expect(webhooks.create(level, { ...content, event }, 'platform')).rejects.toThrow(
      'accounts conflicts: only a subscription to webhookFailing, webhookDisabled, webhookRecovered can have accounts.',
    );
    expect(fakes.repository.all).toEqual([]);
  });

  it("is not stored for another account's application", async () => {
    const applicationId = await anApplication();
    const level = { accountId: '2', applicationId };
    await expect(webhooks.create(level, aContent())).rejects.toThrow(NotFoundError);
  });

  it('is refused beyond the limit of its level', async () => {
    const applicationId = await anApplication();
    const ofApplication = () => webhooks.create({ accountId: ACCOUNT, applicationId }, aContent());
    for (let made = 0; made < MAX_WEBHOOKS; made += 1) {
      await aWebhook();
      await ofApplication();
    }
    await expect(aWebhook()).rejects.toThrow(WebhookLimitReachedError);
    await expect(ofApplication()).rejects.toThrow(WebhookLimitReachedError);
    expect(fakes.repository.all).toHaveLength(2 * MAX_WEBHOOKS);
    await webhooks.create({ accountId: '2' }, aContent());
  });
});

describe("another account's subscription", () => {
  it('is not found by any operation', async () => {
    const id = await aWebhook();
    const applicationId = await anApplication();
    for (const key of [
      { accountId: '2', id },
      { accountId: ACCOUNT, id: '2' },
      { accountId: ACCOUNT, id: 'x' },
      { accountId: ACCOUNT, id, applicationId },
      { accountId: ACCOUNT, id, applicationId: 'x' },
    ]) {
      for (const work of [
        webhooks.get(key.accountId, key.id, key.applicationId),
        webhooks.update(key, { name: 'x' }, wrongVersion),
        webhooks.delete(key, wrongVersion),
      ]) {
        await expect(work).rejects.toThrow(NotFoundError);
      }
    }
    await expect(webhooks.rotateKey('2', id)).rejects.toThrow(NotFoundError);
    await expect(webhooks.verificationKey('2', id)).rejects.toThrow(NotFoundError);
  });
});

describe('an update', () => {
  it('locks the subscription, and records the fields that the client changed', async () => {
    const id = await aWebhook();
    const changes = { name: 'mine', enabled: false, resource: 'all' };
    await update(id, changes);
    expect(fakes.repository.locked).toEqual([id]);
    expect(await webhooks.get(ACCOUNT, id)).toMatchObject({
      ...changes,
      ...{ version: 2, generation: 2, cancelling: true },
    });
    expect(recorded()).toEqual([['webhook.update', ['name', 'enabled']]]);
  });

  it('sets the accounts of notices only for operators, and keeps them with their kinds', async () => {
    const id = await aWebhook({ event: 'webhookFailing' });
    await expect(updateAs('account', id, { accounts: 'all' })).rejects.toThrow('accounts is only');
    await updateAs('platform', id, { accounts: 'all' });
    await expect(updateAs('platform', id, { event: 'cdrCreated' })).rejects.toThrow(
      'event conflicts: only a subscription to webhookFailing',
    );
    await updateAs('platform', id, { event: 'webhookDisabled' });
    await update(id, { paused: true });
    expect(await webhooks.get(ACCOUNT, id)).toMatchObject({ accounts: 'all', paused: true });
    await updateAs('platform', id, { event: 'cdrCreated', accounts: null });
    expect(await webhooks.get(ACCOUNT, id)).toMatchObject({ accounts: null, event: 'cdrCreated' });
  });

  it('writes and records nothing if no value changes', async () => {
    const id = await aWebhook({ headers: { A: 'value' } });
    const same = { ...aContent(), targetUrl: 'https://***@target.example/', headers: { A: '***' } };
    await update(id, same);
    expect([(await webhooks.get(ACCOUNT, id)).version, recorded()]).toEqual([1, []]);
  });

  it('is refused for another version', async () => {
    const id = await aWebhook();
    await expect(update(id, { name: 'x' }, wrongVersion)).rejects.toThrow(PreconditionFailedError);
    expect(await webhooks.get(ACCOUNT, id)).toMatchObject({ name: null });
  });

  it('keeps a stored target that is denied now, and refuses a new one', async () => {
    const targetUrl = 'https://192.0.2.1/';
    const id = await aWebhook({ targetUrl });
    fakes.policy.denied.add('192.0.2.1');
    await update(id, { targetUrl, name: 'x' });
    expect(await webhooks.get(ACCOUNT, id)).toMatchObject({ name: 'x', targetVersion: 1 });
    await expect(update(id, { targetUrl: `${targetUrl}new` })).rejects.toThrow(PRIVATE_TARGET);
    const unknown = update('999', { targetUrl: `${targetUrl}new` });
    await expect(unknown).rejects.toThrow(PRIVATE_TARGET);
  });

  it('keeps a stored maxConcurrent that is beyond the limit now, and refuses a new one', async () => {
    const id = await aWebhook({ maxConcurrent: 8 });
    fakes.pace.maxConcurrent = 4;
    await update(id, { maxConcurrent: 8, name: 'x' });
    expect(await webhooks.get(ACCOUNT, id)).toMatchObject({ name: 'x', maxConcurrent: 8 });
    await expect(update(id, { maxConcurrent: 5 })).rejects.toThrow(
      'maxConcurrent must be at most 4, the limit of this installation.',
    );
  });

  it.each<[string, WebhookChanges, string]>([
    ['the mask of another target', { targetUrl: 'https://***@new.example/' }, MASKED_TARGET],
    ['a port that is not allowed', { targetUrl: 'https://target.example:81/' }, RESERVED_PORT],
    ['a mask of a header that it does not have', { headers: { B: '***' } }, '***'],
    ['a second authorization', { headers: { Authorization: 'x' } }, 'headers'],
  ])('is refused with %s', async (_, changes, says) => {
    const id = await aWebhook();
    fakes.policy.denied.add('81');
    await expect(update(id, changes)).rejects.toThrow(says);
    expect(recorded()).toEqual([]);
  });

  it('may not combine notices with only some resources', async () => {
    const id = await aWebhook({ resource: 'call,sms' });
    await expect(update(id, { event: 'webhookDisabled' })).rejects.toThrow('event conflicts');
    await update(id, { event: 'webhookDisabled', resource: 'all' });
    await expect(update(id, { resource: 'call' })).rejects.toThrow('resource conflicts');
  });

  it('that only pauses or resumes is recorded as such', async () => {
    const id = await aWebhook();
    await update(id, { paused: true });
    await update(id, { paused: true });
    await update(id, { paused: false });
    expect(recorded().map(([action]) => action)).toEqual(['webhook.pause', 'webhook.resume']);
  });

  it('of the signature replaces the key, which keeps signing', async () => {
    const id = await aWebhook();
    const { secret } = await webhooks.get(ACCOUNT, id);
    await update(id, { signature: 'ed25519' });
    const changed = await webhooks.get(ACCOUNT, id);
    expect(changed).toMatchObject({ signature: 'ed25519', version: 2 });
    expect(changed.retiredSecrets.map((retired) => retired.secret)).toEqual([secret]);
    await update(id, { signature: 'ed25519' });
    expect(recorded()).toEqual([['webhook.update', ['signature']]]);
  });
});

describe('a rotation', () => {
  it('returns the new key, and keeps the old one for 24 h', async () => {
    const id = await aWebhook();
    const before = await webhooks.verificationKey(ACCOUNT, id);
    const key = await webhooks.rotateKey(ACCOUNT, id);
    expect(key).not.toEqual(before);
    expect(await webhooks.verificationKey(ACCOUNT, id)).toEqual(key);
    const [retired] = (await webhooks.get(ACCOUNT, id)).retiredSecrets;
    expect(fakes.secrets.open(ACCOUNT, 'secret', retired!.secret)).toBe(
      (before as { secret: string }).secret,
    );
    expect((Date.parse(retired!.until) - Date.now()) / 3_600_000).toBeCloseTo(24, 1);
    expect(recorded()).toEqual([['webhook.rotate_secret', undefined]]);
  });

  it('drops a key that can no longer be read', async () => {
    const id = await aWebhook();
    fakes.repository.all[0]!.secret = (await webhooks.get(ACCOUNT, id)).userinfo!;
    await webhooks.rotateKey(ACCOUNT, id);
    expect((await webhooks.get(ACCOUNT, id)).retiredSecrets).toEqual([]);
  });
});

describe('a deletion', () => {
  it('is recorded for each subscription', async () => {
    const applicationId = await anApplication();
    const one = await aWebhook();
    const key = { accountId: ACCOUNT, id: one };
    await expect(webhooks.delete(key, wrongVersion)).rejects.toThrow(PreconditionFailedError);
    await webhooks.delete(key, anyVersion);
    const level = { accountId: ACCOUNT, applicationId };
    const of = [await webhooks.create(level, aContent()), await webhooks.create(level, aContent())];
    await fakes.transactions.run(() => webhooks.deleteOf(applicationId));
    const deleted = fakes.audit.entries.filter(({ action }) => action === 'webhook.delete');
    expect(deleted).toEqual(
      [one, ...of].map((resourceId) => ({
        ...{ action: 'webhook.delete', resourceId, accountId: ACCOUNT },
      })),
    );
    await expect(webhooks.get(ACCOUNT, of[0]!)).rejects.toThrow(NotFoundError);
  });
});

describe('a list', () => {
  const page = { limit: 100 };

  it('is empty for an unknown event or resource, and fails for an unknown application', async () => {
    const id = await aWebhook();
    const listed = async (query: object) => {
      const read = await webhooks.list({ accountId: ACCOUNT, scope: 'all', ...query });
      return (await read(page)).map((webhook) => webhook.id);
    };
    expect(await listed({})).toEqual([id]);
    expect(await listed({ resource: 'all' })).toEqual([id]);
    expect(await listed({ event: 'unknown' })).toEqual([]);
    expect(await listed({ resource: 'unknown' })).toEqual([]);
    await expect(listed({ scope: { applicationId: '9' } })).rejects.toThrow(NotFoundError);
  });

  it("of an event's audience has the account's subscriptions and those of its application", async () => {
    const [applicationId, other] = [await anApplication(), await anApplication()];
    const level = { accountId: ACCOUNT, applicationId };
    const of = await webhooks.create(level, aContent());
    await webhooks.create({ ...level, applicationId: other }, aContent());
    const ofAccount = await aWebhook();
    const idsOf = async (event: typeof level | { accountId: string }) =>
      (await webhooks.audienceOf(event)).map(({ id }) => id);
    expect(await idsOf({ accountId: ACCOUNT })).toEqual([ofAccount]);
    expect(await idsOf(level)).toEqual([ofAccount, of]);
  });
});
