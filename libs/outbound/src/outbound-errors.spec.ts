import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import { afterEach, expect, it, vi } from 'vitest';
import { EgressProxyError } from './egress-proxy.js';
import {
  connectionError,
  failureOf,
  outboundErrorOf,
  OwnFaultError,
  ownFaultOf,
} from './outbound-errors.js';

it.each([
  ['EUNRESOLVED', 'dns'],
  ['ECONNREFUSED', 'refused'],
  ['ECONNRESET', 'reset'],
  ['UND_ERR_SOCKET', 'reset'],
  ['UND_ERR_CONNECT_TIMEOUT', 'timeout'],
  ['EDEADLINE', 'timeout'],
  ['CERT_HAS_EXPIRED', 'tls'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'tls'],
  ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'tls'],
  ['ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', 'tls'],
  ['ERR_SSL_TLSV1_ALERT_ACCESS_DENIED', 'tls'],
  ['EHOSTUNREACH', 'refused'],
  ['INVALID_PURPOSE', 'tls'],
  ['UNSPECIFIED', 'tls'],
  ['EBLOCKED', 'blocked'],
  ['HPE_INVALID_CONSTANT', 'protocol'],
  ['SOMETHING_NEW', 'protocol'],
])('classifies %s as %s', (code, word) => {
  expect(outboundErrorOf(Object.assign(new Error('x'), { code }))).toBe(word);
});

it.each([
  ['CERT_HAS_EXPIRED', 'expired'],
  ['CERT_NOT_YET_VALID', 'expired'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'name'],
  ['ERR_SSL_TLSV1_UNRECOGNIZED_NAME', 'name'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'untrusted'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'untrusted'],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'untrusted'],
  ['CERT_REVOKED', 'untrusted'],
  ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'client_certificate'],
  ['ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE', 'client_certificate'],
  ['ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', 'client_certificate'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'protocol'],
  ['ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE', 'protocol'],
  ['EPROTO', 'protocol'],
  ['UNABLE_TO_GET_CRL', 'other'],
  ['UNSPECIFIED', 'other'],
])('says of %s in TLS that it is about %s', (code, detail) => {
  const error = Object.assign(new Error('x'), { code });
  expect(failureOf(new Error('y', { cause: error }))).toEqual({ error: 'tls', detail });
});

it('tells an answer of the egress proxy from a connection that it closed', () => {
  const answered = new EgressProxyError('203.0.113.7', { status: 403 });
  expect(failureOf(answered)).toEqual({ error: 'refused', detail: 'proxy' });
  const late = new EgressProxyError('203.0.113.7', { status: 504 });
  expect(failureOf(new AggregateError([late]))).toEqual({ error: 'timeout', detail: 'proxy' });
  expect(failureOf(new EgressProxyError('203.0.113.7', {}))).toEqual({ error: 'refused' });
});

it('classifies an error by its cause, and several errors by the first one', () => {
  const refused = Object.assign(new Error('x'), { code: 'ECONNREFUSED' });
  expect(outboundErrorOf(new Error('x', { cause: refused }))).toBe('refused');
  expect(outboundErrorOf(new AggregateError([refused]))).toBe('refused');
  expect(outboundErrorOf(new TypeError('invalid'))).toBe('protocol');
});

it('tells an answer out of place from a lost connection', () => {
  const lost = (message: string) => Object.assign(new Error(message), { code: 'UND_ERR_SOCKET' });
  expect(outboundErrorOf(lost('bad upgrade'))).toBe('protocol');
  expect(outboundErrorOf(lost('bad response'))).toBe('protocol');
  expect(outboundErrorOf(lost('other side closed'))).toBe('reset');
});

it.each([
  ['EMFILE', 'resources'],
  ['ENETUNREACH', 'network'],
  ['ENETDOWN', 'network'],
  ['EACCES', 'network'],
  ['EPERM', 'network'],
  ['ECONNREFUSED', undefined],
  ['EHOSTUNREACH', undefined],
  ['ETIMEDOUT', undefined],
] as const)('finds whether %s is our own fault', (code, fault) => {
  const error = Object.assign(new Error('x'), { code });
  expect(ownFaultOf(new Error('y', { cause: error }))).toBe(fault);
  expect(ownFaultOf(new OwnFaultError('proxy', error))).toBe(
    fault === 'resources' ? fault : 'proxy',
  );
});

afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

function useInterfaces(interfaces: object): void {
  vi.spyOn(os, 'networkInterfaces').mockReturnValue(interfaces as never);
  syncBuiltinESMExports();
}

const errorOf = (code: string) => Object.assign(new Error(code), { code });

it.each([
  ['EADDRNOTAVAIL', 'resources'],
  ['ENETUNREACH', 'network'],
])(
  'counts %s as unreachable for an IPv6 address, without IPv6, and as %s with it',
  (code, ours) => {
    const faultAt = (address: string) => {
      const error = connectionError(errorOf(code), address);
      return ownFaultOf(error) ?? outboundErrorOf(error);
    };
    const loopback = { address: '::1', family: 'IPv6' };
    const linkLocal = { address: 'fe80::1', family: 'IPv6' };
    useInterfaces({ lo: [{ address: '127.0.0.1', family: 'IPv4' }, loopback], eth0: [linkLocal] });
    expect(faultAt('2001:db8::1')).toBe('refused');
    expect(faultAt('fd00::1')).toBe('refused');
    expect(faultAt('192.0.2.1')).toBe(ours);
    useInterfaces({ eth0: [{ address: 'fd00::2', family: 'IPv6' }] });
    expect(faultAt('2001:db8::1')).toBe('refused');
    expect(faultAt('fd00::1')).toBe(ours);
    useInterfaces({ eth0: [{ address: '2001:db8::2', family: 'IPv6' }] });
    expect(faultAt('2001:db8::1')).toBe(ours);
  },
);
