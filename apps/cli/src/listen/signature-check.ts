import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { Webhook } from 'standardwebhooks';

const PUBLIC_KEY = /^whpk_([A-Za-z0-9+/]{43}=)$/;
/** The library uses the same value for secrets. */
const TOLERANCE_SECONDS = 300;

/** Whether a key can only verify. */
export function isPublicKey(key: string): boolean {
  return PUBLIC_KEY.test(key);
}

/** Throws, with the reason as the message, unless the notification is genuine. */
type Verifier = (headers: Record<string, string>, body: Buffer) => void;

/** Verifies signatures of Standard Webhooks 1.0.0 like a customer's own web application. */
export class SignatureCheck {
  private readonly verifiers: readonly Verifier[];

  /**
   * @param keys secrets and public keys; a signature of any of them is accepted
   * @throws Error for a key that is not `whsec_` or `whpk_` followed by Base64; the message does not contain the key
   */
  constructor(keys: readonly string[]) {
    this.verifiers = keys.map((key) => {
      const publicKey = PUBLIC_KEY.exec(key)?.[1];
      if (publicKey !== undefined) return byPublicKey(publicKey);
      try {
        if (key.startsWith('whsec_')) return bySecret(new Webhook(key));
      } catch {
        // The library's message does not explain the format of a secret.
      }
      throw new Error('a secret must be whsec_ and Base64, a public key whpk_ and Base64');
    });
  }

  /** Whether a notification may be genuine, and the reason in a few words. */
  judge(headers: IncomingHttpHeaders, body: Buffer): { verdict: string; isRefused: boolean } {
    if (this.verifiers.length === 0)
      return { verdict: 'unverified (no --secret)', isRefused: false };
    let reason = '';
    for (const verifier of this.verifiers) {
      try {
        verifier(headers as Record<string, string>, body);
        return { verdict: 'verified', isRefused: false };
      } catch (error) {
        reason = (error as Error).message;
      }
    }
    return { verdict: `NOT VERIFIED (${reason})`, isRefused: true };
  }
}

function bySecret(webhook: Webhook): Verifier {
  return (headers, body) => void webhook.verify(body, headers, { jsonParse: false });
}

/** The library supports only signatures with secrets. */
function byPublicKey(base64: string): Verifier {
  const x = Buffer.from(base64, 'base64').toString('base64url');
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  return (headers, body) => {
    const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signatures } = headers;
    if (!id || !at || !signatures) throw new Error('Missing required headers');
    const age = Math.abs(Date.now() / 1_000 - Number(at));
    if (!(age <= TOLERANCE_SECONDS)) throw new Error('Message timestamp too old or too new');
    const content = Buffer.concat([Buffer.from(`${id}.${at}.`), body]);
    if (signatures.split(' ').some((signature) => isSigned(signature, content, key))) return;
    throw new Error('No matching signature found');
  };
}

function isSigned(signature: string, content: Buffer, key: KeyObject): boolean {
  const [identifier, base64 = ''] = signature.split(',');
  return identifier === 'v1a' && verify(null, content, key, Buffer.from(base64, 'base64'));
}
