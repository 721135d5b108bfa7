import type { Request } from 'express';
import { describe, expect, it } from 'vitest';
import { isSameOrigin, mayBeCsrf } from './browsers.js';

function post(base: string, headers: Record<string, string>): Request {
  const config = { PUBLIC_BASE_URL: base, CORS_ORIGINS: [] };
  return { method: 'POST', headers, config } as unknown as Request;
}

const counts = (base: string, origin: string) => {
  const request = post(base, { origin });
  expect(mayBeCsrf(request)).toBe(!isSameOrigin(request));
  return isSameOrigin(request);
};

describe("a page's origin is our own", () => {
  it.each([
    ['https://api.example', 'https://api.example'],
    ['https://api.example/base', 'https://api.example'],
    ['https://api.example:443', 'https://api.example'],
    ['http://api.example:80', 'http://api.example'],
    ['http://api.example:8080', 'http://api.example:8080'],
    ['HTTPS://API.example', 'https://api.example'],
    ['https://api.example.', 'https://api.example.'],
    ['https://bücher.example', 'https://xn--bcher-kva.example'],
    ['http://[0:0::1]:81', 'http://[::1]:81'],
    ['https://user:secret@api.example', 'https://api.example'],
  ])('for the address %s: %s', (base, origin) => {
    expect(counts(base, origin)).toBe(true);
  });
});

describe("a page's origin is another one", () => {
  it.each([
    ...['http:', 'http:/', 'http://', 'https:', 'https://', '', 'null', '*', '/'],
    ...['https://api', 'https://api.exampl', 'https://api.example.', 'https://api.example:443'],
    ...['https://api.example:8443', 'http://api.example', 'https://api.example/', '//api.example'],
    ...['https://user@api.example', 'https://api.example@evil.example', 'api.example'],
    ...['https://api.example, https://evil.example', 'https://api.example https://api.example'],
    ...[
      'https:api.example',
      'https:/api.example',
      'https:\\\\api.example',
      'https://api.example#x',
    ],
    ...['https://evil.example', 'https://api.example.evil.example', 'https://api.example\t'],
  ])('%j', (origin) => {
    expect(counts('https://api.example', origin)).toBe(false);
  });
});
