import createFetchClient, { type Client as FetchClient } from 'openapi-fetch';
import type { components, paths } from './api.generated.js';

/** The bodies and answers of the API by their names in its description. */
export type Schemas = components['schemas'];

/** Where an API is, and in whose name it is called. */
export interface ClientOptions {
  /** What the paths are put behind, as `https://api.example.com`. */
  baseUrl: string;
  /** Absent, with the password, in a page: the browser sends the cookie of its session. */
  username?: string;
  password?: string;
  /** Sends the requests, in place of `fetch`. */
  fetch?: (request: Request) => Promise<Response>;
}

/**
 * A method for each method of HTTP: `GET('/v1/webhooks/{id}', { params: { path: { id } } })`. It
 * resolves to `data` or `error`, with the `response`; the `code` of an `error` is one of those that
 * this very route has (where a proxy answers in its place, `error` is what that says). It rejects
 * when there is no answer at all; `signal` bounds the wait. Bodies are parsed: with `parseAs: 'text'`
 * numbers beyond 2^53 in free-form data keep their digits.
 */
export type Client = FetchClient<paths, 'application/json' | 'application/problem+json'>;

/** A client of an API, in the name of one user: by HTTP Basic, in UTF-8, or by the session of the browser. */
export function createClient({ username, password, ...options }: ClientOptions): Client {
  if (username === undefined || password === undefined) return createFetchClient(options);
  const bytes = new TextEncoder().encode(`${username}:${password}`);
  const credentials = btoa(String.fromCharCode(...bytes));
  return createFetchClient({ ...options, headers: { Authorization: `Basic ${credentials}` } });
}
