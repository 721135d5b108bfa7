import { expect, it } from 'vitest';
import { ValidationError } from '#libs/kernel';
import { generatePassword, isUsername, requirePassword } from './user.js';

it.each(['12345678', 'x'.repeat(200), '🔑'.repeat(8), 'with blanks\tand: colons', 'pässwörd'])(
  'takes the password %j',
  (password) => {
    expect(() => requirePassword(password)).not.toThrow();
  },
);

it.each(['', '1234567', 'x'.repeat(201), '🔑'.repeat(7), 'a\0bcdefgh', 'abcdefgh\ud800'])(
  'refuses the password %j',
  (password) => {
    expect(() => requirePassword(password)).toThrow(ValidationError);
  },
);

it('generates different valid passwords', () => {
  const generated = Array.from({ length: 100 }, generatePassword);
  for (const password of generated) requirePassword(password);
  expect(new Set(generated).size).toBe(100);
});

it.each(['a', 'demo', 'A.b_c@d-9', 'x'.repeat(64)])('accepts the username %j', (username) => {
  expect(isUsername(username)).toBe(true);
});

it.each(['', '1demo', '83346', 'de mo', 'démo', 'de:mo', 'x'.repeat(65), 'demo\n', '-a'])(
  'refuses the username %j',
  (username) => {
    expect(isUsername(username)).toBe(false);
  },
);
