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
