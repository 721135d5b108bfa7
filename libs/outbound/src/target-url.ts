import { isIP } from 'node:net';

/**
 * Options for every TLS connection to a target or a proxy. They override `NODE_OPTIONS` and
 * `NODE_TLS_REJECT_UNAUTHORIZED`. Node checks by default that the certificate is for the host.
 */
export const OUTBOUND_TLS = { minVersion: 'TLSv1.2', rejectUnauthorized: true } as const;

/** The host as a server name, which has no trailing dot; empty for an address (RFC 6066, section 3). */
export function serverNameOf(host: string): string {
  return isIP(host) === 0 ? host.replace(/\.$/, '') : '';
}

/** The path and query to request. An empty query is one, too, for which `search` has no `?`. */
export function requestedPathOf({ href, protocol }: URL): string {
  const [address = ''] = href.split('#', 1);
  return address.slice(address.indexOf('/', `${protocol}//`.length));
}

/** The user information of a URL as Basic credentials (RFC 7617), if there is any. */
export function basicCredentialsOf({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined;
  const pair = `${bytesOf(username)}:${bytesOf(password)}`;
  return `Basic ${Buffer.from(pair, 'latin1').toString('base64')}`;
}

/** One character for each byte: escaped bytes need not be UTF-8, and a % need not start an escape. */
function bytesOf(text: string): string {
  return text.replace(/%([\da-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}
