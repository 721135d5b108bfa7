import { randomBytes } from 'node:crypto';

/** Standard Webhooks 1.0.0 wants 24 to 64 bytes. */
const SECRET_BYTES = 32;

/** A new secret to sign notifications with, in the form of Standard Webhooks: `whsec_<base64>`. */
export function newWebhookSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
}
