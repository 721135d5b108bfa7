import { open } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { OwnFault } from '#libs/kernel';
import { shortageOf } from '#libs/runtime';

/** The reason why there was no answer. */
export type OutboundError =
  'timeout' | 'dns' | 'refused' | 'reset' | 'tls' | 'protocol' | 'blocked';

/** What failed in TLS with the target, or that the egress proxy refused to connect to it. */
export type OutboundDetail =
  'expired' | 'name' | 'untrusted' | 'client_certificate' | 'protocol' | 'other' | 'proxy';

/** Why there was no answer, and more precisely if that is known. */
export interface OutboundFailure {
  error: OutboundError;
  detail?: OutboundDetail;
}

/** The target did not answer in time. */
export class DeadlineError extends Error {
  readonly code = 'EDEADLINE';

  constructor() {
    super('no answer in time');
  }
}

const BY_CODE: Record<string, OutboundError> = {
  EBLOCKED: 'blocked',
  EUNRESOLVED: 'dns',
  ECONNREFUSED: 'refused',
  EPROXY: 'refused',
  EHOSTUNREACH: 'refused',
  EHOSTDOWN: 'refused',
  ECONNRESET: 'reset',
  ECONNABORTED: 'reset',
  EPIPE: 'reset',
  UND_ERR_SOCKET: 'reset',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  EDEADLINE: 'timeout',
  ETIMEDOUT: 'timeout',
  EPROXYTIMEOUT: 'timeout',
  EPROTO: 'tls',
};

// OpenSSL's verification errors and Node's own.
const TLS =
  /^(?:ERR_TLS_|ERR_SSL_|CERT_|CRL_|ERROR_IN_|INVALID_(?:CA|NON_CA|PURPOSE)|PATH_LENGTH_|UNSPECIFIED|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|HOSTNAME_MISMATCH)/;

/** undici uses the code of a lost connection for an unexpected answer, too. */
const UNEXPECTED_ANSWER: unknown[] = ['bad response', 'bad upgrade'];

/** The details of errors of TLS, the first that matches. A target's alerts about certificates concern the client's. */
const TLS_DETAILS: readonly (readonly [RegExp, OutboundDetail])[] = [
  [/^CERT_(?:HAS_EXPIRED|NOT_YET_VALID)$/, 'expired'],
  [/^ERR_TLS_CERT_ALTNAME_|^HOSTNAME_MISMATCH$|_UNRECOGNIZED_NAME$/, 'name'],
  [/^ERR_SSL_.*ALERT_(?:.*CERTIFICATE|UNKNOWN_CA|ACCESS_DENIED)/, 'client_certificate'],
  [/^(?:EPROTO$|ERR_SSL_)/, 'protocol'],
  [
    /^(?:SELF_SIGNED_|DEPTH_ZERO_|UNABLE_TO_(?:GET_ISSUER|VERIFY_LEAF)|PATH_LENGTH_|INVALID_)/,
    'untrusted',
  ],
  [/^CERT_(?:UNTRUSTED|REJECTED|REVOKED|CHAIN_TOO_LONG|SIGNATURE_FAILURE)$/, 'untrusted'],
];

/** Classifies any error of the client. */
export function failureOf(error: unknown): OutboundFailure {
  if (error instanceof AggregateError) return failureOf(error.errors[0]);
  const { code, cause, message, status } = error as Record<string, unknown>;
  if (code === 'UND_ERR_SOCKET' && UNEXPECTED_ANSWER.includes(message)) {
    return { error: 'protocol' };
  }
  if (typeof code === 'string') {
    const known = BY_CODE[code] ?? (TLS.test(code) ? 'tls' : undefined);
    if (known === 'tls') return { error: known, detail: tlsDetailOf(code) };
    const isRefusedByProxy = code.startsWith('EPROXY') && status !== undefined;
    if (known) return { error: known, ...(isRefusedByProxy && { detail: 'proxy' }) };
  }
  return cause === undefined ? { error: 'protocol' } : failureOf(cause);
}

export const outboundErrorOf = (error: unknown): OutboundError => failureOf(error).error;

const tlsDetailOf = (code: string): OutboundDetail =>
  TLS_DETAILS.find(([codes]) => codes.test(code))?.[1] ?? 'other';

/** The address of a failed connection, if the error contains it. */
export function addressOf(error: unknown): string | undefined {
  if (error instanceof AggregateError) return addressOf(error.errors[0]);
  const { address } = error as { address?: unknown };
  return typeof address === 'string' ? address : undefined;
}

const OWN_FAULT_WORDS: Record<OwnFault, string> = {
  resources: 'this host lacks file descriptors, memory or ports',
  proxy: 'the egress proxy cannot be reached, or refuses',
  resolver: 'no resolver of names answers',
  network: 'this host has no route, no permission or no network',
};

/** A call failed on our own side (contract, section 11). The target is not at fault. */
export class OwnFaultError extends Error {
  constructor(
    readonly fault: OwnFault,
    cause: unknown,
  ) {
    super(OWN_FAULT_WORDS[fault], { cause });
  }
}

/** The codes of errors with which this host refuses to send anything. */
const NETWORK_CODES: unknown[] = ['ENETUNREACH', 'ENETDOWN', 'EACCES', 'EPERM'];

/** The fault of the service itself; undefined if the target, or the way to it, failed. */
export function ownFaultOf(error: unknown): OwnFault | undefined {
  if (shortageOf(error) !== undefined) return 'resources';
  if (!(error instanceof Error)) return undefined;
  if (error instanceof OwnFaultError) return error.fault;
  const { code } = error as NodeJS.ErrnoException;
  return NETWORK_CODES.includes(code) ? 'network' : ownFaultOf(error.cause);
}

/** Whether an error, or one of its causes, is a lack of resources of this host. */
export function isShortage(error: unknown): boolean {
  return shortageOf(error) !== undefined;
}

/** With these, a host without an IPv6 address that can reach another reports each of them. */
const WITHOUT_IPV6: unknown[] = ['EADDRNOTAVAIL', 'ENETUNREACH'];
const GLOBAL = /^[23]/;
const UNIQUE_LOCAL = /^f[cd]/i;

/**
 * A host without IPv6 reports every IPv6 address like a lack of ports or of a network, but waiting does not help.
 * @returns the error to throw instead
 */
export function connectionError(error: unknown, address: string): unknown {
  const isDoubtful = WITHOUT_IPV6.includes((error as NodeJS.ErrnoException).code);
  if (!isDoubtful || !isIPv6(address) || hasIpv6For(address)) return error;
  return Object.assign(error as Error, { code: 'EHOSTUNREACH' });
}

function hasIpv6For(target: string): boolean {
  const own = Object.values(networkInterfaces()).flatMap((addresses = []) => addresses);
  return own.some(
    ({ address, family }) =>
      family === 'IPv6' &&
      (GLOBAL.test(address) || (UNIQUE_LOCAL.test(address) && UNIQUE_LOCAL.test(target))),
  );
}

/**
 * Resolvers hide a lack of file descriptors behind their own errors.
 * @throws an error that {@link isShortage} knows, if no file can be opened
 */
export async function assertDescriptors(): Promise<void> {
  const file = await open('/dev/null');
  await file.close();
}
