import { describe, expect, it } from 'vitest';
import { hasLength, HTTP_SCHEMES, isUrl } from './text.js';

const isHttpUrl = (text: string): boolean => isUrl(text, HTTP_SCHEMES);

describe('isUrl of HTTP', () => {
  it('refuses text that is too long without parsing it, which would take seconds', () => {
    const letters = Array.from({ length: 80_000 }, (_, i) =>
      String.fromCodePoint(0x4e00 + (i % 20_000)),
    );
    const start = performance.now();
    expect(isHttpUrl(`http://${letters.join('')}`)).toBe(false);
    expect(performance.now() - start).toBeLessThan(500);
    expect(isHttpUrl(`http://h/${'\u{1f600}'.repeat(2_000)}`)).toBe(true);
  });

  it('judges letters beyond ASCII alike after very many calls', () => {
    const judged = () => ['http://café', 'http://%dd\u00ad'].map(isHttpUrl);
    expect(judged()).toEqual([true, false]);
    for (let call = 0; call < 100_000; call += 1) isHttpUrl(`http://h/${String(call)}`);
    expect(judged()).toEqual([true, false]);
  });

  it.each([
    'http://h',
    'HTTPS://Example.COM/a?b#c',
    'http://user:pw@intranet:8080/x',
    'http://bücher.example/ü?q=é',
    'http://[2001:db8::1]:81/',
    'http://127.0.0.1',
    'https://h/\\path',
  ])('accepts %s', (url) => {
    expect(isHttpUrl(url)).toBe(true);
  });

  it.each([
    '',
    'h',
    '//h/x',
    '/x',
    'ftp://h',
    'http:h',
    'http:/h',
    'http:///h',
    'http://',
    'http://?x',
    'http://user@',
    'http://h:99999',
    ' http://h',
    'http://h ',
    'http://h/a b',
    'http://h/\u00a0',
    'http://h/\ta',
    'http://h/\u0000',
    'http://h/\u0085',
    'http://h/\ud800',
    'http://[::1',
    'http://1.2.3.256',
  ])('refuses %j', (url) => {
    expect(isHttpUrl(url)).toBe(false);
  });
});

describe('isUrl', () => {
  it.each(['amqp://h', 'AMQPS://user:pw@h:5671/queue', 'amqp://[2001:db8::1]/'])(
    'accepts %s',
    (url) => {
      expect(isUrl(url, ['amqp', 'amqps'])).toBe(true);
    },
  );

  it.each(['http://h', 'amqpx://h', 'amqp:h', 'amqp://us\\er@h', 'amqp://1.2.3.256', 'amqp://h:x'])(
    'refuses %s',
    (url) => {
      expect(isUrl(url, ['amqp', 'amqps'])).toBe(false);
    },
  );
});

describe('hasLength', () => {
  it('counts code points', () => {
    expect(hasLength('😀😀', 2)).toBe(true);
    expect(hasLength('😀😀😀', 2)).toBe(false);
    expect(hasLength('', 2)).toBe(false);
  });
});
