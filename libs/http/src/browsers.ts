import type { Request } from 'express';
import { baseUrlOf } from './href.js';
import { isJson } from './read-body.js';
import { configOf } from './request.js';

/**
 * Whether this may be cross-site request forgery: a page of another origin makes a browser send the request
 * with a remembered password. Without a preflight, browsers only send what a form can send, which is a POST
 * without JSON (Fetch standard, "CORS-safelisted request-header").
 */
export function mayBeCsrf(request: Request): boolean {
  if (request.method !== 'POST' || isJson(request)) return false;
  const { origin, 'sec-fetch-site': site } = request.headers;
  if (origin !== undefined && configOf(request).CORS_ORIGINS.includes(origin)) return false;
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  // Over plain HTTP, browsers send only Origin; other clients send neither header.
  return origin !== undefined && !isOwn(origin, request);
}

/** Whether a page of our own origin made a browser send the request, as far as the browser says. */
export function isSameOrigin(request: Request): boolean {
  const { origin, 'sec-fetch-site': site } = request.headers;
  if (site !== undefined) return site === 'same-origin';
  if (origin !== undefined) return isOwn(origin, request);
  // Older browsers send neither header with a GET to the own origin.
  return request.method === 'GET' || request.method === 'HEAD';
}

/** Compares whole origins as browsers write them: scheme, host and port (RFC 6454, section 6.2). */
function isOwn(origin: string, request: Request): boolean {
  return origin === new URL(baseUrlOf(request)).origin;
}
