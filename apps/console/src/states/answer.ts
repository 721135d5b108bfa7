import type { Schemas } from '../app/api.js';

/** How an attempt ended. */
export type Answer = Pick<Schemas['Attempt'], 'status' | 'error' | 'detail'>;

type AttemptError = NonNullable<Schemas['Attempt']['error']>;
type AttemptDetail = NonNullable<Schemas['Attempt']['detail']>;

/** What the server did. */
const ERRORS: Record<AttemptError, string> = {
  dns: 'could not be found in DNS',
  refused: 'refused the connection',
  reset: 'broke off the connection',
  timeout: 'did not answer in time',
  tls: 'failed the TLS handshake',
  blocked: 'had an address that may not be called',
  protocol: 'answered with invalid HTTP',
};

/** The same, where more is known. */
const DETAILS: Partial<Record<AttemptDetail, string>> = {
  expired: 'had a certificate that is not valid now',
  name: 'had a certificate for another name',
  untrusted: 'had a certificate that is not trusted',
  client_certificate: 'wanted a certificate of the client',
  proxy: 'could not be reached through our proxy',
};

const DETAIL_ADVICE: Partial<Record<AttemptDetail, string>> = {
  expired: 'Renew the certificate, and check the clock of your server.',
  name: 'Use a certificate for the host name of the target address.',
  untrusted:
    'Use a certificate of a public authority, and send its whole chain, intermediate certificates included.',
  client_certificate:
    'No certificate is sent: verify the signature of notifications instead of asking for one.',
  protocol: 'Offer TLS 1.2 or 1.3 at that port, and do not ask for a certificate of the client.',
  proxy: 'If your server works, ask the operator whether the proxy lets calls to it through.',
};

const ERROR_ADVICE: Record<AttemptError, string> = {
  dns: 'Check the host name of the target address, and its DNS records.',
  refused: 'Check that your server runs, and listens on the port of the target address.',
  reset: 'Check the logs of your server, and of any proxy before it, at the time of the attempt.',
  timeout: 'Answer with 2xx first, and do slow work afterwards.',
  tls: 'Check that the certificate is valid, complete, and for this host name.',
  blocked: 'Use a target that is reachable at a public address.',
  protocol: 'Check that the target address leads to an HTTP server.',
};

/** The server's answer or failure: `answered 503`. */
export function outcomeOf({ status, error, detail }: Answer): string {
  if (status !== undefined) return `answered ${status}`;
  const precise = detail && DETAILS[detail];
  if (precise !== undefined) return precise;
  return error ? ERRORS[error] : 'did not answer';
}

/** What the customer can check. */
export function adviceFor({ status, error, detail }: Answer): string | undefined {
  if (error) return (detail && DETAIL_ADVICE[detail]) ?? ERROR_ADVICE[error];
  if (status === undefined || (status >= 200 && status < 300)) return undefined;
  if (status < 400) return 'Redirects are not followed: set the target address to the final one.';
  if (status === 401 || status === 403) {
    return 'Your server refused the caller: check its authentication, and how it verifies signatures.';
  }
  if (status === 404 || status === 405) return 'Check the path of the target address.';
  if (status === 410) return 'Check the target address: 410 says that it is gone for good.';
  if (status === 429 || status === 503) return undefined;
  return status < 500
    ? 'Check why your server refused this body.'
    : 'Check the logs of your server at the time of the attempt.';
}
