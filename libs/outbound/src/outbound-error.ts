/** The reason why there was no answer. */
export type OutboundError =
  'timeout' | 'dns' | 'refused' | 'reset' | 'tls' | 'protocol' | 'blocked';

/** The target has not answered in time. */
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
  ENETUNREACH: 'refused',
  EHOSTDOWN: 'refused',
  ENETDOWN: 'refused',
  EACCES: 'refused',
  EPERM: 'refused',
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

/** undici gives a lost connection and an answer out of place the same code. */
const OUT_OF_PLACE: unknown[] = ['bad response', 'bad upgrade'];

/** Classifies any error of the client. */
export function outboundErrorOf(error: unknown): OutboundError {
  if (error instanceof AggregateError) return outboundErrorOf(error.errors[0]);
  const { code, cause, message } = error as { code?: unknown; cause?: unknown; message?: unknown };
  if (code === 'UND_ERR_SOCKET' && OUT_OF_PLACE.includes(message)) return 'protocol';
  if (typeof code === 'string') {
    const known = BY_CODE[code];
    if (known) return known;
    if (TLS.test(code)) return 'tls';
  }
  return cause === undefined ? 'protocol' : outboundErrorOf(cause);
}

/** The address of a failed connection, if the error contains it. */
export function addressOf(error: unknown): string | undefined {
  if (error instanceof AggregateError) return addressOf(error.errors[0]);
  const { address } = error as { address?: unknown };
  return typeof address === 'string' ? address : undefined;
}
