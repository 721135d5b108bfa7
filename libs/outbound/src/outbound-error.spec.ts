import { expect, it } from 'vitest';
import { outboundErrorOf } from './outbound-error.js';

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
  ['ENETDOWN', 'refused'],
  ['EPERM', 'refused'],
  ['INVALID_PURPOSE', 'tls'],
  ['UNSPECIFIED', 'tls'],
  ['EBLOCKED', 'blocked'],
  ['HPE_INVALID_CONSTANT', 'protocol'],
  ['SOMETHING_NEW', 'protocol'],
])('classifies %s as %s', (code, word) => {
  expect(outboundErrorOf(Object.assign(new Error('x'), { code }))).toBe(word);
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
