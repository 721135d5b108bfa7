import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { VERSION } from '#libs/runtime';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { type Client, clientOf } from '../support/http.js';
import { apiInProcess, type Running, workerInProcess } from '../support/in-process.js';
import { type Receiver, startReceiver } from '../support/receiver.js';

/** The images of each version, from `npm run release:image`. */
const IMAGES = fileURLToPath(new URL('../upgrade/', import.meta.url));
const versions = readdirSync(IMAGES).map((file) => file.replace('.sql.gz', ''));

it('has an image of this version, if it is one of a release', () => {
  expect([...versions, '-dev']).toContain(VERSION.endsWith('-dev') ? '-dev' : VERSION);
});

describe.each(versions)('a database of version %s', (version) => {
  let database: TestDatabase;
  let running: Running[];
  let receiver: Receiver;
  let account: Client;
  let platform: Client;

  beforeAll(async () => {
    receiver = await startReceiver();
    const image = gunzipSync(readFileSync(`${IMAGES}${version}.sql.gz`)).toString('utf8');
    // The image gets older, and must not expire.
    const settings = { RETENTION_DAYS: '3650' };
    database = await createTestDatabase(settings, image);
    const environment = {
      ...settings,
      DATABASE_URL: database.url,
      SECRETS_KEYS: `image:${Buffer.alloc(32, 'image').toString('base64')}`,
      DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8',
    };
    const api = await apiInProcess(environment);
    running = [api];
    account = clientOf(api.url, 'demo:demo-secret');
    platform = clientOf(api.url, 'switch:switch-secret');
    for (const id of ['1', '2']) {
      const targetUrl = `${receiver.url}/${id}`;
      expect((await account.put(`/v1/webhooks/${id}`, { targetUrl })).status).toBe(200);
    }
    // The target exists now, so waiting deliveries can be sent.
    running.push(await workerInProcess(environment));
  });
  afterAll(async () => {
    await Promise.all(running.map((one) => one.stop()));
    await receiver.close();
    await database.drop();
  });

  const read = async <Body>(path: string) => (await account.get(path)).json<Body>();

  /** Expects a notification at the target of a subscription, with the stored secret, payload and headers. */
  async function expectNotification(webhookId: string, event: string): Promise<void> {
    const path = `/${webhookId}`;
    await receiver.until((received) => received.some((one) => one.path === path));
    const { headers, body } = receiver.received.find((one) => one.path === path)!;
    const { secret } = await read<{ secret: string }>(`/v1/webhooks/${webhookId}/secret`);
    const signed = new Webhook(secret).verify(body, headers as Record<string, string>);
    expect(signed).toMatchObject({ event, payload: { kept: true } });
    expect(headers['x-kept']).toBe('secret');
  }

  it('shows the stored data', async () => {
    expect(await read('/v1/applications')).toMatchObject([{ name: 'Kept' }]);
    expect(await read('/v1/webhooks')).toMatchObject([
      { event: 'cdrCreated', payload: { kept: true } },
      { event: 'smsdlr', payload: { kept: true } },
    ]);
    const [delivery] = await read<{ id: string }[]>('/v1/webhooks/1/deliveries?state=succeeded');
    expect(await read(`/v1/deliveries/${delivery!.id}`)).toMatchObject({
      attemptLog: [{ number: 1, status: 200 }],
    });
    expect(await read('/v1/audit')).toContainEqual(
      expect.objectContaining({ action: 'application.create' }),
    );
  });

  it('delivers waiting deliveries', () => expectNotification('2', 'smsdlr'));

  it('delivers a new event', async () => {
    const event = { event: 'cdrCreated', resource: 'call', accountId: '1', data: {} };
    expect((await platform.post('/v1/events', event)).status).toBe(202);
    await expectNotification('1', 'cdrCreated');
  });
});
