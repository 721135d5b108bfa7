import type { Request } from 'express';
import { hrefBuilder } from './href.js';
import { isJson } from './read-body.js';
import { configOf } from './request.js';

/**
 * Whether a page of another origin may have had a browser send this, with a password that the browser
 * remembers of its own accord. Only what a form can send needs no leave (Fetch standard, "CORS-safelisted
 * request-header"): a POST that is not JSON. Whatever else changes something has had its preflight.
 */
export function mayBeForged(request: Request): boolean {
  if (request.method !== 'POST' || isJson(request)) return false;
  const { origin, 'sec-fetch-site': site } = request.headers;
  if (origin !== undefined && configOf(request).CORS_ORIGINS.includes(origin)) return false;
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  // Over plain HTTP browsers say no more than this, and other clients nothing.
  return origin !== undefined && !hrefBuilder(request)().startsWith(`${origin}/`);
}
