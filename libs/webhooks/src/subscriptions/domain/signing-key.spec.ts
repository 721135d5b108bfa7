import { createPublicKey, verify } from 'node:crypto';
import { expect, it } from 'vitest';
import { newSigningKey, signatureOf, SIGNATURES } from './signing-key.js';

it('creates secrets of 32 random bytes in the format of Standard Webhooks', () => {
  const keys = Array.from({ length: 100 }, () => newSigningKey('hmac-sha256'));
  expect(new Set(keys.map(({ secret }) => secret)).size).toBe(100);
  for (const { secret, publicKey } of keys) {
    expect([secret, publicKey]).toEqual([
      expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
      null,
    ]);
  }
});

it('creates Ed25519 pairs whose public key verifies signatures of the private key', () => {
  const [one, other] = [newSigningKey('ed25519'), newSigningKey('ed25519')];
  const content = 'id.1795262400.{"ä":1}';
  const [identifier, signature = ''] = signatureOf(content, one.secret).split(',');
  expect(identifier).toBe('v1a');
  const verifies = (publicKey: string | null, text: string) => {
    const [, base64 = ''] = /^whpk_([A-Za-z0-9+/]{43}=)$/.exec(publicKey ?? '') ?? [];
    const x = Buffer.from(base64, 'base64').toString('base64url');
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
    return verify(null, Buffer.from(text), key, Buffer.from(signature, 'base64'));
  };
  expect(verifies(one.publicKey, content)).toBe(true);
  expect(verifies(one.publicKey, `${content} `)).toBe(false);
  expect(verifies(other.publicKey, content)).toBe(false);
});

it('signs like the example of RFC 8032 (section 7.1, test 2)', () => {
  const bytes = Buffer.from(
    '4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb' +
      '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
    'hex',
  );
  const signature = Buffer.from(
    '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da' +
      '085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
    'hex',
  );
  const expected = `v1a,${signature.toString('base64')}`;
  expect(signatureOf('r', `whsk_${bytes.toString('base64')}`)).toBe(expected);
});

it('selects the signature algorithm by the prefix of the secret', () => {
  const identifiers = SIGNATURES.map((kind) => signatureOf('', newSigningKey(kind).secret));
  expect(identifiers.map((text) => text.split(',')[0])).toEqual(['v1', 'v1a']);
});
