import type { Request } from 'express';
import { hrefBuilder } from './href.js';
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
  return origin !== undefined && !hrefBuilder(request)().startsWith(`${origin}/`);
}
