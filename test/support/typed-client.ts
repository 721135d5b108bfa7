import { type Client, createClient } from '#libs/client';
import { checkDescribed } from './http.js';

/**
 * The typed client of one server, in the name of one user (`username:password`). As with the raw
 * client, an answer that is not as `/openapi.json` says is an error.
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
