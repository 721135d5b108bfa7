import { expect, it } from 'vitest';
import { curlOf } from './curl.js';

it('quotes the address, the headers and the body for the shell', () => {
  const body = `{"it's":"$HOME","n":12345678901234567890}`;
  const request = { method: 'POST', url: "https://target.example/?a='b'", headers: { key: '***' } };
  expect(curlOf(request, body).split(' \\\n  ')).toEqual([
    String.raw`curl -X POST 'https://target.example/?a='\''b'\'''`,
    "-H 'key: ***'",
    String.raw`--data-raw '{"it'\''s":"$HOME","n":12345678901234567890}'`,
  ]);
});
