import type { INestApplicationContext } from '@nestjs/common';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApplicationsService } from '#libs/applications';
import { NotFoundError, PreconditionFailedError } from '#libs/kernel';
import { type WebhookContent, SubscriptionsModule, WebhooksService } from '#libs/webhooks';
import { contextOf } from '../support/context.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { anAccount, anApplication } from '../support/rows.js';

interface Row {
  generation: number;
  cancelling: boolean;
  deleted: boolean;
  held: boolean;
  version: number;
}

let database: TestDatabase;
let context: INestApplicationContext;
let webhooks: WebhooksService;
let accountId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  context = await contextOf(database, [SubscriptionsModule]);
  webhooks = context.get(WebhooksService);
});
afterAll(async () => {
  await context.close();
  await database.drop();
});

const anyVersion = (): void => undefined;
const content = (fields: Partial<WebhookContent> = {}): WebhookContent => ({
  name: null,
  event: 'cdrCreated',
  resource: 'all',
  targetUrl: 'https://target.example/hook',
  payload: null,
  filter: null,
  enabled: true,
  retry: null,
  headers: null,
  signature: 'hmac-sha256',
  maxPerSecond: null,
  maxConcurrent: null,
  ordered: false,
  accounts: null,
  ...fields,
});

async function rowOf(id: string): Promise<Row | undefined> {
  const [row] = await database.query<Row>(
    `SELECT generation, cancelling, version, deleted_at IS NOT NULL AS deleted,
       hold_until IS NOT NULL AS held
     FROM webhooks WHERE id = $1`,
    [id],
  );
  return row;
}

async function aSubscription(fields: Partial<WebhookContent> = {}): Promise<string> {
  accountId = await anAccount(database);
  return webhooks.create({ accountId }, content(fields));
}

/** @returns the new secret */
async function rotated(id: string): Promise<string> {
  const key = await webhooks.rotateKey(accountId, id);
  if ('secret' in key) return key.secret;
  throw new Error('it is signed by another kind of key');
}

describe('pending deliveries', () => {
  it('are cancelled once when their subscription is disabled', async () => {
    const id = await aSubscription();
    expect(await rowOf(id)).toMatchObject({ generation: 1, cancelling: false });
    await webhooks.update({ accountId, id }, { enabled: false }, anyVersion);
    expect(await rowOf(id)).toMatchObject({ generation: 2, cancelling: true, version: 2 });
    await webhooks.update({ accountId, id }, { enabled: false }, anyVersion);
    expect(await rowOf(id)).toMatchObject({ generation: 2, version: 2 });
  });

  it('stay cancelled when their subscription is enabled again', async () => {
    const id = await aSubscription({ enabled: false });
    await webhooks.update({ accountId, id }, { enabled: true }, anyVersion);
    expect(await rowOf(id)).toMatchObject({ generation: 1, version: 2 });
    await webhooks.update({ accountId, id }, { enabled: false }, anyVersion);
    await webhooks.update({ accountId, id }, { enabled: true }, anyVersion);
    expect(await rowOf(id)).toMatchObject({ generation: 2, cancelling: true, version: 4 });
  });

  it('are cancelled when their subscription is deleted', async () => {
    const id = await aSubscription();
    await webhooks.delete({ accountId, id }, anyVersion);
    expect(await rowOf(id)).toMatchObject({ generation: 2, cancelling: true, deleted: true });
    await expect(webhooks.get(accountId, id)).rejects.toThrow(NotFoundError);
  });

  it('are cancelled when their application is deleted, and no others are', async () => {
    const accountLevel = await aSubscription();
    const [applicationId, other] = [
      await anApplication(database, accountId),
      await anApplication(database, accountId),
    ];
    const ofApplication = await webhooks.create({ accountId, applicationId }, content());
    const ofOther = await webhooks.create({ accountId, applicationId: other }, content());
    await context
      .get(ApplicationsService, { strict: false })
      .delete(accountId, applicationId, anyVersion);
    expect(await rowOf(ofApplication)).toMatchObject({
      generation: 2,
      cancelling: true,
      deleted: true,
    });
    expect(await rowOf(ofOther)).toMatchObject({
      generation: 1,
      cancelling: false,
      deleted: false,
    });
    expect(await rowOf(accountLevel)).toMatchObject({ generation: 1, deleted: false });
    await expect(webhooks.create({ accountId, applicationId }, content())).rejects.toThrow(
      NotFoundError,
    );
  });
});

describe('a hold', () => {
  it('ends only with the target that requested it', async () => {
    const id = await aSubscription();
    await database.query("UPDATE webhooks SET hold_until = now() + interval '1 h' WHERE id = $1", [
      id,
    ]);
    await webhooks.update({ accountId, id }, { name: 'held', resource: 'sms' }, anyVersion);
    expect(await rowOf(id)).toMatchObject({ held: true });
    await webhooks.update({ accountId, id }, { targetUrl: 'https://new.example/' }, anyVersion);
    expect(await rowOf(id)).toMatchObject({ held: false });
  });
});

describe('resuming', () => {
  it('keeps a hold and an open circuit, and restarts the five days of failures', async () => {
    const id = await aSubscription();
    const hour = new Date(Date.now() + 3_600_000);
    await database.query(
      `UPDATE webhooks SET hold_until = $2, open_until = $2, failures = 10, openings = 2,
         failing_since = now() - interval '4 days' WHERE id = $1`,
      [id, hour],
    );
    await webhooks.update({ accountId, id }, { paused: true }, anyVersion);
    await webhooks.update({ accountId, id }, { paused: false }, anyVersion);
    const { failingSince, ...kept } = await webhooks.get(accountId, id);
    expect(kept).toMatchObject({ paused: false, holdUntil: hour, openUntil: hour, openings: 2 });
    expect(Date.now() - failingSince!.getTime()).toBeLessThan(60_000);
  });
});

describe('a subscription that the service disabled', () => {
  it('loses its reason when it is enabled', async () => {
    const id = await aSubscription();
    await database.query(
      `UPDATE webhooks SET enabled = false, disabled_reason = 'gone', disabled_at = now()
       WHERE id = $1`,
      [id],
    );
    expect(await webhooks.get(accountId, id)).toMatchObject({ disabledReason: 'gone' });
    await webhooks.update({ accountId, id }, { enabled: true }, anyVersion);
    expect(await webhooks.get(accountId, id)).toMatchObject({
      enabled: true,
      disabledReason: null,
      disabledAt: null,
    });
  });
});

describe('a secret', () => {
  it('keeps signing for 24 h after its replacement, even if it is replaced several times', async () => {
    const id = await aSubscription();
    const { secret: first, version, updatedAt } = await webhooks.get(accountId, id);
    const second = await rotated(id);
    const third = await rotated(id);
    expect(new Set([first, second, third]).size).toBe(3);
    const present = await webhooks.get(accountId, id);
    expect(present.secret).toBe(third);
    expect(present.retiredSecrets.map((retired) => retired.secret)).toEqual([second, first]);
    for (const { until } of present.retiredSecrets) {
      expect((Date.parse(until) - Date.now()) / 3_600_000).toBeCloseTo(24, 1);
    }
    // A rotation changes no field that a client writes.
    expect(await webhooks.get(accountId, id)).toMatchObject({ version, updatedAt });
  });

  it('comes from one of two concurrent rotations, and the other is kept as retired', async () => {
    const id = await aSubscription();
    const secrets = await Promise.all([rotated(id), rotated(id)]);
    const { secret, retiredSecrets } = await webhooks.get(accountId, id);
    expect([secret, retiredSecrets[0]?.secret].sort()).toEqual(secrets.sort());
  });

  it('is deleted when its 24 h end, or after ten later ones were retired', async () => {
    const id = await aSubscription();
    await rotated(id);
    await database.query(
      `UPDATE webhooks SET retired_secrets = jsonb_set(retired_secrets, '{0,until}',
         to_jsonb(now() - interval '1 s')) WHERE id = $1`,
      [id],
    );
    const replaced: string[] = [];
    for (let times = 0; times < 11; times += 1) {
      replaced.unshift((await webhooks.get(accountId, id)).secret);
      await rotated(id);
      const { retiredSecrets } = await webhooks.get(accountId, id);
      expect(retiredSecrets.map((retired) => retired.secret)).toEqual(replaced.slice(0, 10));
    }
  });
});

describe('an update', () => {
  it('keeps the changes of all concurrent updates', async () => {
    const id = await aSubscription();
    const changes: Partial<WebhookContent>[] = [
      { name: 'label' },
      { event: 'cdrRated' },
      { resource: 'sms,call' },
      { targetUrl: 'https://new.example/' },
      { payload: '{"a":1}' },
      { enabled: false },
    ];
    await Promise.all(
      changes.map((change) => webhooks.update({ accountId, id }, change, anyVersion)),
    );
    expect(await webhooks.get(accountId, id)).toMatchObject({
      ...Object.assign({}, ...changes),
      version: 1 + changes.length,
    });
  });

  it('of one version succeeds only once among concurrent ones', async () => {
    const id = await aSubscription();
    const firstVersion = (version: number): void => {
      if (version !== 1) throw new PreconditionFailedError();
    };
    const ends = await Promise.allSettled(
      Array.from({ length: 10 }, (_, index) =>
        webhooks.update({ accountId, id }, { name: `name ${index}` }, firstVersion),
      ),
    );
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await rowOf(id)).toMatchObject({ version: 2 });
  });
});
