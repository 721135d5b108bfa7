import { type Client, createClient } from '#libs/client';
import { checkDescribed } from './http.js';

/**
 * The typed client of one server, as one user (`username:password`). Like the raw client, it throws if an answer
 * differs from `/openapi.json`.
 */
export function typedClientOf(base: string, auth: string): Client {
  const [username = '', password = ''] = auth.split(':');
  return createClient({ baseUrl: base, username, password, fetch: checkedFetch });
}

async function checkedFetch(request: Request): Promise<Response> {
  const { method, url } = request;
  const response = await fetch(request);
  const { status, headers } = response;
  const text = await response.clone().text();
  await checkDescribed(method, url, { status, headers: Object.fromEntries(headers), text });
  return response;
}
