import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import { afterEach, expect, it, vi } from 'vitest';
import { connectionError, isShortage } from './shortage.js';

afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

function useInterfaces(interfaces: object): void {
  vi.spyOn(os, 'networkInterfaces').mockReturnValue(interfaces as never);
  syncBuiltinESMExports();
}

const errorOf = (code: string) => Object.assign(new Error(code), { code });

it.each(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL'])('knows %s', (code) => {
  expect(isShortage(errorOf(code))).toBe(true);
  expect(isShortage(new Error('x', { cause: errorOf(code) }))).toBe(true);
});

it.each(['ECONNREFUSED', 'ENETUNREACH', 'ETIMEDOUT', 'EPIPE'])('is not %s', (code) => {
  expect(isShortage(errorOf(code))).toBe(false);
});

it('is no lack of ports when a host without IPv6 connects to an IPv6 address', () => {
  const loopback = { address: '127.0.0.1', family: 'IPv4' };
  useInterfaces({ lo: [loopback] });
  const toIpv6 = connectionError(errorOf('EADDRNOTAVAIL'), '2001:db8::1');
  expect(toIpv6).toMatchObject({ code: 'ENETUNREACH' });
  const toIpv4 = connectionError(errorOf('EADDRNOTAVAIL'), '192.0.2.1');
  expect(isShortage(toIpv4)).toBe(true);
  const global = { address: '2001:db8::2', family: 'IPv6' };
  useInterfaces({ lo: [loopback], eth0: [global] });
  expect(isShortage(connectionError(errorOf('EADDRNOTAVAIL'), '2001:db8::1'))).toBe(true);
});
