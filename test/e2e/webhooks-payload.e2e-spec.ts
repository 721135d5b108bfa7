import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DemoAccount, faultsOf, startDemoAccount } from '../support/demo-account.js';

let demo: DemoAccount;

beforeAll(async () => {
  demo = await startDemoAccount();
});
afterAll(() => demo.stop());

describe('a payload', () => {
  const raw = `{"z":1, "a" : 12345678901234567890.0100,\n"a":"\\u0041\\ud83d", "ü":[ ]}`;
  const bodyWith = (payload: string) =>
    `{"event":"smsdlr","resource":"all","targetUrl":"https://t.example/","payload": ${payload} }`;

  it('is shown and listed character for character as it was sent', async () => {
    await demo.aSubscription();
    const answer = await demo.client.post('/v1/webhooks', bodyWith(raw));
    const path = new URL(answer.json<{ href: string }>().href).pathname;
    expect((await demo.client.get(path)).text).toContain(`,"payload":${raw},"enabled":true,`);
    expect((await demo.client.get('/v1/webhooks')).text).toContain(
      `,"payload":${raw},"enabled":true,`,
    );
  });

  it('is kept as it was sent in an update, and cleared by null', async () => {
    const path = await demo.aSubscription();
    await demo.client.put(path, `{"payload":${raw}}`);
    expect((await demo.client.get(path)).text).toContain(`,"payload":${raw},`);
    await demo.client.put(path, { payload: null });
    expect(await demo.shown(path)).not.toHaveProperty('payload');
  });

  it('takes its last value when it is repeated, in any spelling of the name', async () => {
    const path = await demo.aSubscription();
    await demo.client.put(path, '{"payload":{"a":1},"p\\u0061yload":{"b":2}}');
    expect(await demo.shown(path)).toMatchObject({ payload: { b: 2 } });
  });

  it('has at most 16 KiB of text, counted in bytes', async () => {
    const full = `{"a":"${'ü'.repeat((16_384 - 8) / 2)}"}`;
    expect(Buffer.byteLength(full)).toBe(16_384);
    const path = await demo.aSubscription();
    expect((await demo.client.put(path, `{"payload":${full}}`)).status).toBe(200);
    const answer = await demo.client.put(path, `{"payload":${full.replace('"a"', '"ab"')}}`);
    expect(faultsOf(answer)).toEqual(['payload length']);
  });

  it.each(['[[]]', '[1]', '[null]', '"[]"', '"{}"', '5', 'true', '""'])(
    'is refused: %s',
    async (payload) => {
      expect(faultsOf(await demo.client.post('/v1/webhooks', bodyWith(payload)))).toEqual([
        'payload type',
      ]);
    },
  );
});
