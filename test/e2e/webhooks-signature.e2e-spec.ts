import { createHmac, createPublicKey, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { ModuleKind, ScriptTarget, transpileModule } from 'typescript';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type DemoAccount, faultsOf, startDemoAccount } from '../support/demo-account.js';
import { workerInProcess, type InProcess } from '../support/in-process.js';
import { type Received, type Receiver, startReceiver } from '../support/receiver.js';

let demo: DemoAccount;
let worker: InProcess;
let receiver: Receiver;

beforeAll(async () => {
  const loopback = { DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8' };
  demo = await startDemoAccount(loopback);
  worker = await workerInProcess({ DATABASE_URL: demo.database.url, ...loopback });
  receiver = await startReceiver();
});
afterAll(async () => {
  await worker.stop();
  await demo.stop();
  await receiver.close();
});
beforeEach(() => {
  receiver.received.length = 0;
});

interface Key {
  secret?: string;
  publicKey?: string;
}

async function tested(path: string): Promise<Received> {
  const before = receiver.received.length;
  expect((await demo.client.post(`${path}/test`)).status).toBe(202);
  await receiver.until((received) => received.length > before);
  return receiver.received.at(-1)!;
}

const keyOf = async (path: string): Promise<Key> =>
  (await demo.client.get(`${path}/secret`)).json();
const signaturesOf = ({ headers }: Received) => String(headers['webhook-signature']).split(' ');

/** Verifies byte for byte as the specification of Standard Webhooks says, without our own code. */
function isSignedBy({ secret, publicKey }: Key, signature: string, received: Received): boolean {
  const { headers, body } = received;
  const content = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`;
  if (secret !== undefined) {
    const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
    return signature === `v1,${createHmac('sha256', key).update(content).digest('base64')}`;
  }
  const x = Buffer.from(publicKey!.replace('whpk_', ''), 'base64').toString('base64url');
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  const [identifier, base64 = ''] = signature.split(',');
  const bytes = Buffer.from(base64, 'base64');
  return identifier === 'v1a' && verify(null, Buffer.from(content), key, bytes);
}

describe('a subscription with Ed25519 signatures', () => {
  it('shows its public key, which verifies its notifications, and never the private one', async () => {
    const path = await demo.aSubscription({ targetUrl: receiver.url, signature: 'ed25519' });
    const key = await keyOf(path);
    expect(key).toEqual({
      publicKey: expect.stringMatching(/^whpk_[A-Za-z0-9+/]{43}=$/) as string,
    });
    const shown = await demo.client.get(path);
    expect(shown.json()).toMatchObject({ signature: 'ed25519', ...key });
    expect(shown.text).not.toMatch(/whs(?:k|ec)_/);
    const received = await tested(path);
    const signatures = signaturesOf(received);
    expect(signatures).toHaveLength(1);
    expect(isSignedBy(key, signatures[0]!, received)).toBe(true);
    expect(isSignedBy(key, signatures[0]!, { ...received, body: `${received.body} ` })).toBe(false);
    const [row] = await demo.database.query('SELECT secret FROM webhooks WHERE deleted_at IS NULL');
    expect(row).toEqual({ secret: expect.stringMatching(/^sealed:test:/) as string });
  });

  it('passes the verification example in docs/receiving/notifications.md', async () => {
    const page = readFileSync(
      new URL('../../docs/receiving/notifications.md', import.meta.url),
      'utf8',
    );
    const section = page.slice(page.indexOf('### With a public key'));
    const [, source = ''] = /```ts\n(.*?)```/s.exec(section) ?? [];
    const path = await demo.aSubscription({ targetUrl: receiver.url, signature: 'ed25519' });
    process.env['WEBHOOK_PUBLIC_KEY'] = (await keyOf(path)).publicKey;
    const options = { target: ScriptTarget.ES2023, module: ModuleKind.ESNext };
    const { outputText } = transpileModule(source, { compilerOptions: options });
    const { isGenuine } = (await import(
      /* @vite-ignore */ `data:text/javascript,${encodeURIComponent(outputText)}`
    )) as { isGenuine: (headers: object, body: Buffer) => boolean };
    const { headers, body } = await tested(path);
    expect(isGenuine(headers, Buffer.from(body))).toBe(true);
    expect(isGenuine(headers, Buffer.from(`${body} `))).toBe(false);
    const late = { ...headers, 'webhook-timestamp': String(Date.now() / 1_000 - 301) };
    expect(isGenuine(late, Buffer.from(body))).toBe(false);
  });

  it('is signed with the old key beside the new one after a rotation', async () => {
    const path = await demo.aSubscription({ targetUrl: receiver.url, signature: 'ed25519' });
    const before = await keyOf(path);
    const rotated = await demo.client.post(`${path}/secret/rotate`);
    const after = rotated.json<Key>();
    expect(after).toEqual(await keyOf(path));
    expect(after.publicKey).not.toBe(before.publicKey);
    const received = await tested(path);
    const signatures = signaturesOf(received);
    expect(signatures).toHaveLength(2);
    expect(isSignedBy(after, signatures[0]!, received)).toBe(true);
    expect(isSignedBy(before, signatures[1]!, received)).toBe(true);
  });

  it('changes from one kind to the other and back with the same overlap', async () => {
    const path = await demo.aSubscription({ targetUrl: receiver.url });
    const keys = [await keyOf(path)];
    for (const signature of ['ed25519', 'hmac-sha256']) {
      const { etag } = (await demo.client.get(path)).headers;
      expect((await demo.client.put(path, { signature })).status).toBe(200);
      expect((await demo.client.get(path)).headers.etag).not.toBe(etag);
      keys.unshift(await keyOf(path));
    }
    const received = await tested(path);
    const signatures = signaturesOf(received);
    expect(signatures.map((text) => text.split(',')[0])).toEqual(['v1', 'v1a', 'v1']);
    expect(keys.map((key, at) => isSignedBy(key, signatures[at]!, received))).toEqual(
      Array(3).fill(true),
    );
    expect(await demo.shown(path)).not.toHaveProperty('publicKey');
  });

  it('keeps its key when it is sent back as shown', async () => {
    const path = await demo.aSubscription({ signature: 'ed25519' });
    const before = await demo.client.get(path);
    const shown = before.json();
    const publicKey = `whpk_${Buffer.alloc(32).toString('base64')}`;
    await demo.client.put(path, { ...shown, publicKey });
    expect((await demo.client.get(path)).text).toBe(before.text);
  });
});

it('signs with HMAC by default, and then shows no kind of signature', async () => {
  const path = await demo.aSubscription();
  const shown = await demo.shown(path);
  expect(shown).not.toHaveProperty('signature');
  expect(shown).not.toHaveProperty('publicKey');
  for (const signature of ['hmac-sha256', null]) {
    expect((await demo.client.put(path, { signature })).status).toBe(200);
    expect(await demo.shown(path)).toEqual(shown);
  }
  await demo.client.put(path, { signature: 'ed25519' });
  await demo.client.put(path, { signature: null });
  expect(await demo.shown(path)).not.toHaveProperty('signature');
});

it.each<[signature: unknown, code: string]>([
  ['rsa', 'choice'],
  ['', 'choice'],
  [1, 'type'],
])('refuses the kind of signature %j', async (signature, code) => {
  const path = await demo.aSubscription();
  const answer = await demo.client.put(path, { signature });
  expect(faultsOf(answer)).toEqual([`signature ${code}`]);
});
