import { createSecretKey } from 'node:crypto';
import type { INestApplicationContext } from '@nestjs/common';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { SecretKey } from '#libs/kernel';
import type { WebhookContent } from '../domain/webhook.js';
import { WebhookSecrets } from '../domain/webhook-secrets.js';
import { WebhooksService } from '../domain/webhooks.service.js';
import { SecretsReencryption } from './secrets-reencryption.js';
import { SubscriptionsModule } from '../subscriptions.module.js';
import { contextOf } from '../../../../../test/support/context.js';
import { createTestDatabase, type TestDatabase } from '../../../../../test/support/database.js';
import { aSubscription, anAccount } from '../../../../../test/support/rows.js';

const [k1, k2] = ['k1', 'k2'].map((id) => ({
  id,
  key: createSecretKey(Buffer.alloc(32, id)),
})) as [SecretKey, SecretKey];
const content: WebhookContent = {
  name: null,
  event: 'cdrCreated',
  resource: 'all',
  targetUrl: 'https://user:first@target.example/',
  payload: null,
  enabled: true,
  retry: null,
  filter: null,
  headers: { A: 'first', B: 'kept' },
  signature: 'hmac-sha256',
  maxPerSecond: null,
  maxConcurrent: null,
  ordered: false,
  accounts: null,
};
const anyVersion = (): void => undefined;

let database: TestDatabase;
let contexts: INestApplicationContext[];

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  contexts = [];
  await database.query('TRUNCATE webhooks');
});
afterEach(async () => {
  await Promise.all(contexts.map((context) => context.close()));
});

/** A process with these keys. */
async function processWith(...keys: SecretKey[]) {
  const context = await contextOf(database, [SubscriptionsModule], { SECRETS_KEYS: keys });
  contexts.push(context);
  const secrets = context.get(WebhookSecrets, { strict: false });
  const webhooks = context.get(WebhooksService);
  return {
    webhooks,
    reencryption: context.get(SecretsReencryption),
    /** All secrets of a subscription. */
    read: async (accountId: string, id: string) => {
      const webhook = await webhooks.get(accountId, id);
      return {
        key: await webhooks.verificationKey(accountId, id),
        targetUrl: secrets.targetUrl(webhook),
        headers: secrets.headers(webhook),
        retired: webhook.retiredSecrets.map(({ secret }) =>
          secrets.open(accountId, 'secret', secret),
        ),
      };
    },
  };
}

/** The ids of the keys that any value is sealed with; '' stands for an unsealed value. */
async function keysInUse(): Promise<string[]> {
  const rows = await database.query<{ id: string }>(
    `SELECT DISTINCT coalesce(substring(sealed FROM '^sealed:([^:]+):'), '') AS id FROM webhooks,
       LATERAL (
         VALUES (secret), (userinfo)
         UNION ALL SELECT value FROM json_each_text(headers)
         UNION ALL SELECT r ->> 'secret' FROM jsonb_array_elements(retired_secrets) r
       ) AS s(sealed)
     WHERE sealed IS NOT NULL ORDER BY 1`,
  );
  return rows.map(({ id }) => id);
}

it('seals every row with the first key while subscriptions are created and changed', async () => {
  const legacy = await anAccount(database);
  await database.query(
    `INSERT INTO webhooks (account_id, event, resource, target_url, userinfo, enabled, secret, retired_secrets)
     SELECT $1, 'cdrCreated', 'all', 'https://***@old.example/@x', 'us%20er:p@ss' || n, true,
       'whsec_' || n, jsonb_build_array(
         jsonb_build_object('secret', 'whsec_old' || n, 'until', now() + interval '1 h'))
     FROM generate_series(1, 250) n`,
    [legacy],
  );
  const old = await processWith(k1);
  const writing = await processWith(k1, k2);
  const present = await processWith(k2, k1);
  const accounts = await Promise.all(Array.from({ length: 5 }, () => anAccount(database)));
  const subscriptions = await Promise.all(
    accounts.map(async (accountId) => ({
      accountId,
      id: await old.webhooks.create({ accountId }, content),
    })),
  );

  let going = true;
  const written = new Map<string, number>();
  const writers = subscriptions.map(async ({ accountId, id }) => {
    for (let n = 1; going; n += 1) {
      const changes = {
        targetUrl: `https://user:${n}@target.example/`,
        headers: { A: String(n), B: '***' },
      };
      await writing.webhooks.update({ accountId, id }, changes, anyVersion);
      if (n % 10 === 1) await writing.webhooks.rotateKey(accountId, id);
      written.set(id, n);
    }
  });
  const first = await present.reencryption.run();
  for (let runs = 0; runs < 5; runs += 1) await present.reencryption.run();
  going = false;
  await Promise.all(writers);
  expect(first.changed).toBeGreaterThanOrEqual(250);
  expect(first.unreadable.size).toBe(0);

  await present.reencryption.run();
  expect(await keysInUse()).toEqual(['k2']);
  expect((await present.reencryption.run()).changed).toBe(0);

  const later = await processWith(k2);
  for (const { accountId, id } of subscriptions) {
    const n = written.get(id)!;
    expect(n).toBeGreaterThan(1);
    expect(await later.read(accountId, id)).toEqual({
      key: { secret: expect.stringMatching(/^whsec_/) as string },
      targetUrl: `https://user:${n}@target.example/`,
      headers: { A: String(n), B: 'kept' },
      retired: expect.toSatisfy(
        (retired: string[]) =>
          retired.length > 0 && retired.every((one) => one.startsWith('whsec_')),
      ) as unknown,
    });
  }
  const [row] = await database.query<{ id: string }>(
    'SELECT min(id) AS id FROM webhooks WHERE account_id = $1',
    [legacy],
  );
  expect(await later.read(legacy, row!.id)).toEqual({
    key: { secret: 'whsec_1' },
    targetUrl: 'https://us%20er:p@ss1@old.example/@x',
    headers: {},
    retired: ['whsec_old1'],
  });
});

it('changes no visible field, and does not make the target count as a new one', async () => {
  const accountId = await anAccount(database);
  const { webhooks } = await processWith(k1);
  await webhooks.create({ accountId }, content);
  const stored = () =>
    database.query(
      'SELECT version, updated_at, target_version, target_url, headers IS NULL AS bare FROM webhooks',
    );
  const before = await stored();
  expect((await (await processWith(k2, k1)).reencryption.run()).changed).toBe(1);
  expect(await stored()).toEqual(before);
});

it('continues after an unreadable secret, and names the key that it was sealed with', async () => {
  const [one, other] = [await anAccount(database), await anAccount(database)];
  const { webhooks } = await processWith(k1);
  const lost = await webhooks.create({ accountId: one }, content);
  await aSubscription(database, other, { headers: { A: 'plain' } });
  const { changed, unreadable } = await (await processWith(k2)).reencryption.run();
  expect(changed).toBe(1);
  expect(unreadable).toEqual(
    new Map([[lost, 'SECRETS_KEYS has no key "k1", with which it is sealed']]),
  );
  expect(await keysInUse()).toEqual(['k1', 'k2']);
});

it('includes deleted subscriptions, so that no row needs an old key', async () => {
  const accountId = await anAccount(database);
  const { webhooks } = await processWith(k1);
  const id = await webhooks.create({ accountId }, content);
  await webhooks.delete({ accountId, id }, anyVersion);
  expect((await (await processWith(k2, k1)).reencryption.run()).changed).toBe(1);
  expect(await keysInUse()).toEqual(['k2']);
});

it('opens a secret only for the account that it was sealed for', async () => {
  const [victim, thief] = [await anAccount(database), await anAccount(database)];
  const { webhooks, read } = await processWith(k1);
  await webhooks.create({ accountId: victim }, content);
  const id = await webhooks.create({ accountId: thief }, { ...content, headers: { A: 'mine' } });
  await read(thief, id);
  await database.query(
    `UPDATE webhooks SET headers = (SELECT headers FROM webhooks WHERE account_id = $1)
     WHERE account_id = $2`,
    [victim, thief],
  );
  await expect(read(thief, id)).rejects.toThrow('A stored secret cannot be read now.');
});
