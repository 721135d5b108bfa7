/**
 * What holds for every TLS connection to a target or a proxy, whatever `NODE_OPTIONS` or
 * `NODE_TLS_REJECT_UNAUTHORIZED` say. That the certificate is for the host is checked by default.
 */
export const OUTBOUND_TLS = { minVersion: 'TLSv1.2', rejectUnauthorized: true } as const;
