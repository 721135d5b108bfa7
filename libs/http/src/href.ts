import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { configOf } from './request.js';

/** Builds absolute addresses: `href('applications', id)` is `<base>/v1/applications/<id>`. */
export type HrefBuilder = (...segments: string[]) => string;

/** The {@link HrefBuilder} of a request. The base is `PUBLIC_BASE_URL` if set, or the request's own. */
export const Href = createParamDecorator((_: unknown, context: ExecutionContext) =>
  hrefBuilder(context.switchToHttp().getRequest<Request>()),
);

export function hrefBuilder(request: Request): HrefBuilder {
  const base = baseUrlOf(request);
  return (...segments) => `${base}/v1/${segments.join('/')}`;
}

/** What every address begins with. */
export function baseUrlOf(request: Request): string {
  return configOf(request).PUBLIC_BASE_URL ?? originOf(request);
}

/** The longest host and port. Longer texts are invalid and slow to parse (RFC 1035, section 2.3.4). */
const MAX_AUTHORITY = 260;
const HOST = /^(?:[A-Za-z0-9._~-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/;

/** Not every text that matches is a host and a port: `x:65536` and `1.2.3.256` are not. */
const isAuthority = (text: string): boolean =>
  text.length <= MAX_AUTHORITY && HOST.test(text) && URL.canParse(`http://${text}`);

function originOf(request: Request): string {
  // Express reads X-Forwarded-Proto and X-Forwarded-Host only from trusted proxies.
  const host = request.host as string | undefined;
  const { localAddress = 'localhost', localPort } = request.socket;
  const local = localAddress.includes(':') ? `[${localAddress}]` : localAddress;
  const authority =
    host !== undefined && isAuthority(host) ? host : `${local}:${String(localPort)}`;
  // A proxy may forward any value that a client sent, and schemes have no case (RFC 3986, section 3.1).
  const scheme = request.protocol.toLowerCase() === 'https' ? 'https' : 'http';
  return `${scheme}://${authority}`;
}
