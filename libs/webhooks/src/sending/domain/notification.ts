import { signatureOf } from '../../subscriptions/domain/signing-key.js';

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
