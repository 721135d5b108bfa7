import { expect, it } from 'vitest';
import { shownRequest } from './target-client.js';

it.each([
  ['http://Example.COM:80', 'http://example.com/'],
  ['https://example.com:443/a b/../c?d=é#part', 'https://example.com/c?d=%C3%A9'],
  ['https://bücher.example/ü', 'https://xn--bcher-kva.example/%C3%BC'],
  ['http://0x7f.1/', 'http://127.0.0.1/'],
  ['https://us%C3%A9r:p%40ss@EXAMPLE.com/a@b', 'https://***@example.com/a@b'],
  ['https://example.com./hook', 'https://example.com./hook'],
  ['https://@example.com/', 'https://example.com/'],
])('shows the URL %s as it was sent: %s', (url, sent) => {
  expect(shownRequest({ url, headers: {} }, {}).url).toBe(sent);
});

it('masks credentials, and headers of the customer', () => {
  const request = shownRequest(
    { url: 'https://user:pass@example.com/', headers: { 'X-Key': 'secret' } },
    { 'webhook-id': '1' },
  );
  expect(request.headers).toEqual({ authorization: '***', 'X-Key': '***', 'webhook-id': '1' });
});

it('shows no Authorization header that was not sent', () => {
  expect(shownRequest({ url: 'https://@example.com/', headers: {} }, {}).headers).toEqual({});
});
