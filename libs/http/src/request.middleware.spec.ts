import type { Request, Response } from 'express';
import { expect, it, vi } from 'vitest';
import { readForwardedFor } from './request.middleware.js';

function rewritten(header: string | undefined): string | undefined {
  const headers = header === undefined ? {} : { 'x-forwarded-for': header };
  const request = { headers } as unknown as Request;
  const next = vi.fn();
  void readForwardedFor(request, {} as Response, next);
  expect(next).toHaveBeenCalledExactlyOnceWith();
  return request.headers['x-forwarded-for'] as string | undefined;
}

it.each([
  ['192.0.2.1', '192.0.2.1'],
  ['192.0.2.1:5678', '192.0.2.1'],
  ['2001:db8::1', '2001:db8::1'],
  ['[2001:db8::1]', '2001:db8::1'],
  ['[2001:db8::1]:5678', '2001:db8::1'],
  ['2001:DB8::A', '2001:db8::a'],
  ['2001:db8:0:0:0:0:0:1', '2001:db8::1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['[::FFFF:192.0.2.1]:5678', '192.0.2.1'],
  ['fe80::1%eth0', 'fe80::1%eth0'],
  ['::1', '::1'],
  [' 192.0.2.1:1 ,\t[2001:db8::1]:2,192.0.2.3', '192.0.2.1, 2001:db8::1, 192.0.2.3'],
  ['192.0.2.1, , 192.0.2.3,', '192.0.2.1, 192.0.2.3'],
])('reads the addresses in %j as %j', (header, addresses) => {
  expect(rewritten(header)).toBe(addresses);
});

it.each([
  ...['unknown', '_hidden', 'unknown:5678', '192.0.2.1:', '192.0.2.1:123456', '192.0.2.1:http'],
  ...['192.0.2.256', '192.0.2', '0x7f.1', '1', '010.0.0.1', '[192.0.2.1', '2001:db8::1]:5'],
  ...['2001:db8::1::2', '"192.0.2.1"', 'for=192.0.2.1', '192.0.2.1;192.0.2.2', '\u0000', '::1%'],
])('does not count entries up to %j, which is no address', (garbage) => {
  expect(rewritten(garbage)).toBe('');
  expect(rewritten(`192.0.2.1, ${garbage}`)).toBe('');
  expect(rewritten(`192.0.2.1, ${garbage}, 192.0.2.3:1, 192.0.2.4`)).toBe('192.0.2.3, 192.0.2.4');
});

it('leaves a request without the header as it is', () => {
  expect(rewritten(undefined)).toBeUndefined();
});

it('reads only the last ten addresses of a long header', () => {
  const address = '[2001:db8:1234:5678:9abc:def0:1234:5678]:65535';
  expect(rewritten(`${address}, `.repeat(300))?.split(', ')).toHaveLength(10);
  const last = '198.51.100.7:4444';
  for (const filling of ['1', ',', ' ', '1,', '[', '[1]:', ':', '::1,', '127.0.0.1:1,', '%a,']) {
    const header = `${filling.repeat(16_000 / filling.length)},${last}`;
    const addresses = rewritten(header)!;
    expect(addresses).toMatch(/(?:^|, )198\.51\.100\.7$/);
    expect(addresses.length).toBeLessThan(2_000);
  }
});
