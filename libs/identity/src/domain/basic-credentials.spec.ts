import { expect, it } from 'vitest';
import { basicCredentialsOf } from './basic-credentials.js';

const encode = (text: string, encoding: BufferEncoding = 'utf8') =>
  Buffer.from(text, encoding).toString('base64');

it('divides the pair at the first colon', () => {
  expect(basicCredentialsOf(`Basic ${encode('demo:a:b:')}`)).toEqual({
    username: 'demo',
    password: 'a:b:',
  });
});

it('reads the pair as UTF-8', () => {
  expect(basicCredentialsOf(`Basic ${encode('demo:pässwörd 🔑')}`)?.password).toBe('pässwörd 🔑');
  expect(basicCredentialsOf(`Basic ${encode('demo:pässwörd', 'latin1')}`)).toBeUndefined();
});

it('takes the scheme in any case and any number of blanks after it', () => {
  for (const scheme of ['basic', 'BASIC', 'Basic  ']) {
    expect(basicCredentialsOf(`${scheme} ${encode('demo:x')}`)?.username).toBe('demo');
  }
});

it('takes Base64 without padding', () => {
  expect(basicCredentialsOf(`Basic ${encode('demo:xyz').replace(/=+$/, '')}`)?.password).toBe(
    'xyz',
  );
});

it.each(['', 'Basic', 'Basic ', 'Basic %%%', `Bearer ${encode('a:b')}`, `Basic ${encode('ab')}`])(
  'finds no pair in %j',
  (header) => {
    expect(basicCredentialsOf(header)).toBeUndefined();
  },
);
