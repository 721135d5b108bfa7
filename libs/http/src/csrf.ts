import type { Request } from 'express';
import { hrefBuilder } from './href.js';
import { isJson } from './read-body.js';
import { configOf } from './request.js';

/**
 * Whether this may be cross-site request forgery: a page of another origin has had a browser send it, with a
 * password that the browser remembers. Without a preflight browsers send only what a form can send, a POST
 * that is not JSON (Fetch standard, "CORS-safelisted request-header").
 */
export function mayBeCsrf(request: Request): boolean {
  if (request.method !== 'POST' || isJson(request)) return false;
  const { origin, 'sec-fetch-site': site } = request.headers;
  if (origin !== undefined && configOf(request).CORS_ORIGINS.includes(origin)) return false;
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  // Over plain HTTP browsers say no more than this, and other clients nothing.
  return origin !== undefined && !hrefBuilder(request)().startsWith(`${origin}/`);
}
