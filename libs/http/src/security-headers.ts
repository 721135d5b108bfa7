import type { Request, Response } from 'express';
import helmet from 'helmet';
import { pathOf } from './request.js';

/** Where only programs look: a browser that is led there must make nothing of the answer. */
const FOR_PROGRAMS = /^\/(?:v1|health)(?:\/|$)/;
const NOTHING = "default-src 'none'; frame-ancestors 'none'";

const forBrowsers = helmet({
  // Without the defaults, which would have pages on plain HTTP ask for their parts over TLS.
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
  // Whoever terminates TLS says it: over plain HTTP it must not be said (RFC 6797, section 7.2).
  strictTransportSecurity: false,
});

/**
 * Tells browsers what they may do with an answer. Programs read none of it, and a header costs up to
 * a microsecond: so under `/v1/` there are two, and one where an event is reported, which no page
 * can show in a frame.
 */
export function setSecurityHeaders(request: Request, response: Response): void {
  if (FOR_PROGRAMS.test(pathOf(request))) {
    response.setHeader('X-Content-Type-Options', 'nosniff');
    if (request.method !== 'POST') response.setHeader('Content-Security-Policy', NOTHING);
  } else {
    forBrowsers(request, response, () => undefined);
  }
}
