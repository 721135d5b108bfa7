import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DemoAccount, startDemoAccount } from '../support/demo-account.js';

let demo: DemoAccount;
let application: string;

beforeAll(async () => {
  demo = await startDemoAccount();
  application = await demo.anApplication();
});
afterAll(() => demo.stop());

describe('a secret', () => {
  it('is stored encrypted', async () => {
    const path = await demo.aSubscription();
    const { secret } = await demo.shown(`${path}/secret`);
    await demo.client.post(`${path}/secret/rotate`);
    const [row] = await demo.database.query<{ secret: string; retired: string; text: string }>(
      `SELECT secret, retired_secrets #>> '{0,secret}' AS retired, webhooks::text AS text
       FROM webhooks WHERE id = $1`,
      [path.split('/').at(-1)],
    );
    expect(row?.secret).toMatch(/^sealed:test:/);
    expect(row?.retired).toMatch(/^sealed:test:/);
    expect(row?.text).not.toContain(String(secret).slice(6));
  });

  it('is shown by its own route and by no other', async () => {
    const path = await demo.aSubscription();
    const answer = await demo.client.get(`${path}/secret/`);
    const { secret } = answer.json<{ secret: string }>();
    expect(answer.json()).toEqual({ secret });
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(secret).toMatch(/^whsec_/);
    expect(Buffer.from(secret.slice(6), 'base64')).toHaveLength(32);
    expect((await demo.client.get(path)).text).not.toContain(secret);
  });

  it('is rotated without a body, and ignores one', async () => {
    const path = await demo.aSubscription();
    const secrets = [(await demo.client.get(`${path}/secret`)).json<{ secret: string }>().secret];
    for (const body of [undefined, {}, 'no JSON']) {
      const answer = await demo.client.post(`${path}/secret/rotate`, body);
      expect(answer.status).toBe(200);
      secrets.push(answer.json<{ secret: string }>().secret);
    }
    expect(new Set(secrets).size).toBe(4);
    expect((await demo.client.get(`${path}/secret`)).json()).toEqual({ secret: secrets.at(-1) });
  });

  it('has no address below the application', async () => {
    const path = await demo.aSubscription({}, `${application}/webhooks`);
    const below = `${application}/webhooks/${path.split('/').at(-1) ?? ''}`;
    expect((await demo.client.get(below)).status).toBe(200);
    expect((await demo.client.get(`${below}/secret`)).status).toBe(404);
    expect((await demo.client.post(`${below}/secret/rotate`)).status).toBe(404);
  });
});
