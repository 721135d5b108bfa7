/**
 * Options for every TLS connection to a target or a proxy. They override `NODE_OPTIONS` and
 * `NODE_TLS_REJECT_UNAUTHORIZED`. Node checks by default that the certificate is for the host.
 */
export const OUTBOUND_TLS = { minVersion: 'TLSv1.2', rejectUnauthorized: true } as const;
