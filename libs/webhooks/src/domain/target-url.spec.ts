import { describe, expect, it } from 'vitest';
import { hasTargetHost, hasTargetPort, isMaskedTargetUrl, shownTargetUrl } from './target-url.js';

describe('shownTargetUrl', () => {
  it.each([
    ['https://host/path?q', 'https://host/path?q'],
    ['https://user:pass@host/path', 'https://***@host/path'],
    ['https://user@host', 'https://***@host'],
    ['https://@host/', 'https://***@host/'],
    ['HTTPS://a:b@c@host/', 'HTTPS://***@host/'],
    ['https://host/@x', 'https://host/@x'],
    ['https://host?a@b', 'https://host?a@b'],
    ['https://u:p@host/@x?y@z', 'https://***@host/@x?y@z'],
    ['https://host\\@other/', 'https://host\\@other/'],
  ])('shows %s as %s', (url, shown) => {
    expect(shownTargetUrl(url)).toBe(shown);
  });
});

describe('isMaskedTargetUrl', () => {
  it('knows the mask and nothing else', () => {
    expect(isMaskedTargetUrl('https://***@host/')).toBe(true);
    expect(isMaskedTargetUrl('https://***:x@host/')).toBe(false);
    expect(isMaskedTargetUrl('https://host/***@')).toBe(false);
  });
});

describe('hasTargetPort', () => {
  it.each([
    'http://h',
    'http://h:80',
    'https://h:80',
    'http://h:443',
    'http://h:1024',
    'http://h:65535',
  ])('takes %s', (url) => {
    expect(hasTargetPort(url)).toBe(true);
  });

  it.each(['http://h:0', 'http://h:25', 'https://h:22', 'http://h:1023', 'http://h:081'])(
    'refuses %s',
    (url) => {
      expect(hasTargetPort(url)).toBe(false);
    },
  );
});

describe('hasTargetHost', () => {
  const judged = (url: string): string[] => {
    const asked: string[] = [];
    hasTargetHost(url, (address) => {
      asked.push(address);
      return false;
    });
    return asked;
  };

  it.each([
    'http://127.0.0.1/',
    'http://127.1/',
    'http://127.0.0.1./',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://0x7f000001/',
    'http://0177.0.0.1/',
    'http://%31%32%37.0.0.1/',
    'http://１２７.0.0.1/',
    'http://127。0。0。1/',
    'http://user@127.0.0.1:8080/',
  ])('judges 127.0.0.1 in the spelling %s', (url) => {
    expect(judged(url)).toEqual(['127.0.0.1']);
  });

  it('judges literal IPv6 addresses', () => {
    expect(judged('http://[::1]:8080/')).toEqual(['::1']);
    expect(judged('http://[0:0:0:0:0:ffff:7f00:1]/')).toEqual(['::ffff:7f00:1']);
  });

  it.each(['localhost', 'LOCALHOST', 'localhost.', 'a.localhost', 'a.localhost.', 'loc%61lhost'])(
    'judges %s as loopback',
    (host) => {
      expect(hasTargetHost(`http://${host}/`, () => false)).toBe(false);
      expect(hasTargetHost(`http://${host}/`, (address) => address === '127.0.0.1')).toBe(true);
      expect(hasTargetHost(`http://${host}/`, (address) => address === '::1')).toBe(true);
    },
  );

  it.each(['example.com', 'localhost.example.com', 'notlocalhost', '127.0.0.1.nip.io', 'intranet'])(
    'does not judge the name %s',
    (host) => {
      expect(judged(`http://${host}/`)).toEqual([]);
      expect(hasTargetHost(`http://${host}/`, () => false)).toBe(true);
    },
  );
});
