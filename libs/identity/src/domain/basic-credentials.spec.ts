import { isUtf8 } from 'node:buffer';
import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import { basicCredentialsOf, canonicalHeader, isBounded } from './basic-credentials.js';

/** Characters that an encoder or a parser might change. */
const characters = fc.constantFrom(
  ...Array.from('aZ09:=+/-_., "\\\t\n\0\u0085\u00a0é—😀\u{10ffff}'),
);

const encode = (text: string, encoding: BufferEncoding = 'utf8') =>
  Buffer.from(text, encoding).toString('base64');

it('splits the pair at the first colon', () => {
  expect(basicCredentialsOf(`Basic ${encode('demo:a:b:')}`)).toEqual({
    username: 'demo',
    password: 'a:b:',
  });
});

it('reads the pair as UTF-8', () => {
  expect(basicCredentialsOf(`Basic ${encode('demo:pässwörd 🔑')}`)?.password).toBe('pässwörd 🔑');
  expect(basicCredentialsOf(`Basic ${encode('demo:\ufeffx')}`)?.password).toBe('\ufeffx');
  // These bytes are both.
  expect(basicCredentialsOf(`Basic ${encode('demo:Ã¤', 'latin1')}`)?.password).toBe('ä');
});

it('reads bytes that are not UTF-8 as ISO 8859-1', () => {
  const all = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte)).join('');
  for (const password of ['pässwörd', 'ÿ', 'é', '£20', 'a\u00a0b', all]) {
    const header = `Basic ${encode(`demo:${password}`, 'latin1')}`;
    expect(basicCredentialsOf(header)).toEqual({ username: 'demo', password });
  }
  const pair = basicCredentialsOf(`Basic ${encode('müller:pässwörd', 'latin1')}`);
  expect(pair).toEqual({ username: 'müller', password: 'pässwörd' });
});

it('accepts the scheme in any case, followed by any number of blanks', () => {
  for (const scheme of ['basic', 'BASIC', 'Basic  ']) {
    expect(basicCredentialsOf(`${scheme} ${encode('demo:x')}`)?.username).toBe('demo');
  }
});

it('accepts Base64 without padding', () => {
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

it('reads any pair in Base64 or Base64url, with and without padding', () => {
  const name = fc.string({ unit: characters }).filter((text) => !text.includes(':'));
  const encodings = fc.constantFrom('base64', 'base64url');
  fc.assert(
    fc.property(
      name,
      fc.string({ unit: characters }),
      encodings,
      (username, password, encoding) => {
        const encoded = Buffer.from(`${username}:${password}`).toString(encoding);
        expect(basicCredentialsOf(`Basic ${encoded}`)).toEqual({ username, password });
        expect(basicCredentialsOf(`Basic ${encoded.replace(/=+$/, '')}`)?.username).toBe(username);
      },
    ),
  );
});

it('reads from any other header nothing, or the pair that it contains', () => {
  const bytes = fc.uint8Array({ maxLength: 40 }).map((all) => Buffer.from(all).toString('base64'));
  const headers = fc.oneof(
    fc.string({ unit: characters }),
    fc.tuple(
      fc.constantFrom('Basic ', 'basic  ', 'Basic', 'Basic\t', ''),
      fc.oneof(bytes, fc.string()),
    ),
  );
  fc.assert(
    fc.property(headers, (header) => {
      const text = typeof header === 'string' ? header : header.join('');
      const pair = basicCredentialsOf(text);
      if (!pair) return;
      expect(text).toMatch(/^basic +\S+ *$/i);
      const said = Buffer.from(text.trim().split(/ +/)[1] ?? '', 'base64');
      const encoding = isUtf8(said) ? 'utf8' : 'latin1';
      expect(Buffer.from(`${pair.username}:${pair.password}`, encoding)).toEqual(said);
      expect(pair.username).not.toContain(':');
    }),
    { numRuns: 1_000 },
  );
});

const MARKS = '\u0301\u0316';

it('reads the longest pair that a user can have, however its header is spelled', () => {
  const pair = { username: 'a'.repeat(64), password: '🔑'.repeat(200) };
  const encoded = encode(`${pair.username}:${pair.password}`);
  expect(basicCredentialsOf(`Basic ${encoded}`)).toEqual(pair);
  expect(basicCredentialsOf(`basic ${' '.repeat(200)}${encoded} `)).toEqual(pair);
  expect(basicCredentialsOf(canonicalHeader(pair))).toEqual(pair);
  expect(isBounded(pair)).toBe(true);
  const short = { username: 'demo', password: 'x' };
  expect(basicCredentialsOf(`Basic ${' '.repeat(1_000)}${encode('demo:x')}`)).toEqual(short);
});

it.each([
  ['a password of 201 code points', 'demo', 'x'.repeat(201)],
  ['a password of 201 code points of two units', 'demo', '🔑'.repeat(201)],
  ['a username of 201 code points', 'a'.repeat(201), 'x'],
  ['more than 1,024 bytes', '€'.repeat(150), '🔑'.repeat(145)],
])('knows that nobody has %s', (_what, username, password) => {
  expect(isBounded({ username, password })).toBe(false);
});

it('does not decode or normalise what is longer than any pair', () => {
  const normalise = vi.spyOn(String.prototype, 'normalize');
  const decode = vi.spyOn(TextDecoder.prototype, 'decode');
  expect(basicCredentialsOf(`Basic ${encode(`demo:${MARKS.repeat(300)}`)}`)).toBeUndefined();
  expect(basicCredentialsOf(`Basic ${' '.repeat(14_000)}!`)).toBeUndefined();
  expect(isBounded({ username: 'demo', password: MARKS.repeat(64_000) })).toBe(false);
  expect(decode).not.toHaveBeenCalled();
  expect(normalise).not.toHaveBeenCalled();
  vi.restoreAllMocks();
});
