import { readdirSync, readFileSync } from 'node:fs';
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

it('takes a password however its accents were typed', async () => {
  const composed = await hasher.hash('p\u00e4sswort', salt);
  expect(await hasher.hash('pa\u0308sswort', salt)).toEqual(composed);
});

it('depends on the salt', async () => {
  const other = await hasher.hash('demo-secret', Buffer.alloc(16));
  expect(other).not.toEqual(await hasher.hash('demo-secret', salt));
});

it('leaves the cores to the other threads, which have a higher priority', async () => {
  await hasher.hash('demo-secret', salt);
  const niceness = readdirSync('/proc/self/task').map((thread) => {
    const text = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8');
    // Behind the name, which may contain anything, the seventeenth field.
    return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[16]);
  });
  expect(niceness.filter((one) => one === 10)).toHaveLength(1);
});

it('fails for a salt that is none, and goes on', async () => {
  await expect(hasher.hash('demo-secret', Buffer.alloc(0))).rejects.toThrow();
  expect(await hasher.hash('demo-secret', salt)).toHaveLength(32);
});
