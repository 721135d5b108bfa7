import { expect, it } from 'vitest';
import { newWebhookSecret } from './webhook-secret.js';

it('makes secrets of 32 random bytes in the form of Standard Webhooks', () => {
  const secrets = new Set(Array.from({ length: 100 }, newWebhookSecret));
  expect(secrets.size).toBe(100);
  for (const secret of secrets) {
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(Buffer.from(secret.slice(6), 'base64')).toHaveLength(32);
  }
});
