import { LRUCache } from '#libs/kernel';
import {
  createHmac,
  createPrivateKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto';

/** Signature algorithms of notifications, with their names from RFC 9421. */
export const SIGNATURES = ['hmac-sha256', 'ed25519'] as const;
export type Signature = (typeof SIGNATURES)[number];

/** A key that signs notifications, in the format of Standard Webhooks 1.0.0. */
export interface SigningKey {
  /** `whsec_<base64>`, which receivers know, or `whsk_<base64>`, which is never shown. */
  secret: string;
  /** `whpk_<base64>`, with which receivers verify; null if they verify with the secret. */
  publicKey: string | null;
}

/** Standard Webhooks 1.0.0 requires 24 to 64 bytes. */
const SECRET_BYTES = 32;
const PRIVATE_KEY = 'whsk_';
const SEED_BYTES = 32;

export function newSigningKey(signature: Signature): SigningKey {
  if (signature === 'hmac-sha256') {
    return { secret: `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`, publicKey: null };
  }
  const { d = '', x = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  const [seed, point] = [Buffer.from(d, 'base64url'), Buffer.from(x, 'base64url')];
  return {
    secret: PRIVATE_KEY + Buffer.concat([seed, point]).toString('base64'),
    publicKey: `whpk_${point.toString('base64')}`,
  };
}

/** The signature with its version identifier: `v1,…` or `v1a,…`. */
export function signatureOf(content: string, secret: string): string {
  if (secret.startsWith(PRIVATE_KEY)) {
    return `v1a,${sign(null, Buffer.from(content), privateKeyOf(secret)).toString('base64')}`;
  }
  const key = bytesOf(secret);
  return `v1,${createHmac('sha256', key).update(content).digest('base64')}`;
}

/**
 * The headers of Standard Webhooks 1.0.0: one signature per secret, newest secret first.
 * @param secrets the secrets of {@link SigningKey}s
 */
export function signatureHeaders(
  id: string,
  at: Date,
  body: string,
  secrets: readonly string[],
): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1_000));
  const signatures = secrets.map((secret) => signatureOf(`${id}.${timestamp}.${body}`, secret));
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  };
}

const bytesOf = (secret: string): Buffer =>
  Buffer.from(secret.slice(secret.indexOf('_') + 1), 'base64');

/** Cached because parsing a key takes as long as signing. */
const privateKeys = new LRUCache<string, KeyObject>({ max: 1_000 });

function privateKeyOf(secret: string): KeyObject {
  const known = privateKeys.get(secret);
  if (known) return known;
  const bytes = bytesOf(secret);
  const d = bytes.toString('base64url', 0, SEED_BYTES);
  const x = bytes.toString('base64url', SEED_BYTES);
  // As JWK (RFC 8037): OpenSSL takes ten times as long for PKCS #8.
  const key = createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', d, x }, format: 'jwk' });
  privateKeys.set(secret, key);
  return key;
}
