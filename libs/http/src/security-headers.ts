import type { Request, Response } from 'express';
import helmet from 'helmet';
import { pathOf } from './request.js';

/** Paths for programs: a browser that opens one must not render the answer. */
const FOR_PROGRAMS = /^\/(?:v1|health)(?:\/|$)/;
const NOTHING = "default-src 'none'; frame-ancestors 'none'";

const forBrowsers = helmet({
  // Without the defaults, which would make pages on plain HTTP load their resources over TLS.
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      baseUri: ["'none'"],
      formAction: ["'none'"],
      frameAncestors: ["'none'"],
    },
  },
  xFrameOptions: { action: 'deny' },
  // The TLS proxy sets it; it must not be sent over plain HTTP (RFC 6797, section 7.2).
  strictTransportSecurity: false,
});

/**
 * Sets headers that restrict browsers. Programs ignore them and each costs up to a microsecond, so answers
 * under `/v1/` have only two, and answers to POST one, because no page can show those in a frame.
 */
export function setSecurityHeaders(request: Request, response: Response): void {
  if (FOR_PROGRAMS.test(pathOf(request))) {
    response.setHeader('X-Content-Type-Options', 'nosniff');
    if (request.method !== 'POST') response.setHeader('Content-Security-Policy', NOTHING);
  } else {
    forBrowsers(request, response, () => undefined);
  }
}
