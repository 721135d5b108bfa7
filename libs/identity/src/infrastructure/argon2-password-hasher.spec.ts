import { readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { verifySync } from '@node-rs/argon2';
import { expect, it } from 'vitest';
import { Argon2PasswordHasher } from './argon2-password-hasher.js';

const hasher = new Argon2PasswordHasher();
const salt = Buffer.from('0123456789abcdef');

it('computes Argon2id with 19 MiB, two passes and one lane', async () => {
  const hash = await hasher.hash('demo-secret', salt);
  const unpadded = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');
  const text = `$argon2id$v=19$m=19456,t=2,p=1$${unpadded(salt)}$${unpadded(hash)}`;
  expect(verifySync(text, 'demo-secret')).toBe(true);
  expect(verifySync(text, 'demo-secreT')).toBe(false);
});

it('gives a password the same hash however its accents are encoded', async () => {
  const composed = await hasher.hash('p\u00e4sswort', salt);
  expect(await hasher.hash('pa\u0308sswort', salt)).toEqual(composed);
});

it('gives a password different hashes with different salts', async () => {
  const other = await hasher.hash('demo-secret', Buffer.alloc(16));
  expect(other).not.toEqual(await hasher.hash('demo-secret', salt));
});

it('runs with a lower priority than the other threads', async () => {
  await hasher.hash('demo-secret', salt);
  const niceness = readdirSync('/proc/self/task').map((thread) => {
    const text = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8');
    // The seventeenth field after the name, which may contain anything.
    return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[16]);
  });
  // This process may itself have been started with a lower priority.
  const own = getPriority();
  const lower = niceness.filter((one) => one > own);
  expect(lower).toEqual(own < 10 ? [10] : []);
});

it('fails for an invalid salt, and still computes the next hash', async () => {
  await expect(hasher.hash('demo-secret', Buffer.alloc(0))).rejects.toThrow();
  expect(await hasher.hash('demo-secret', salt)).toHaveLength(32);
});
