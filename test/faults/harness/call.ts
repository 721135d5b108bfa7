import { type IncomingHttpHeaders, request } from 'node:http';

/** The server and the user. */
export interface Caller {
  url: string;
  auth: string;
}

/** Sends a request to an API on a new connection. @throws Error if there is no answer */
export function ask(
  { url, auth }: Caller,
  method: string,
  path: string,
  body?: object,
): Promise<{ status: number; text: string; headers: IncomingHttpHeaders }> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', connection: 'close' };
    const asked = request(url + path, { method, headers, auth, agent: false }, (response) => {
      let text = '';
      response.on('error', reject);
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, text, headers: response.headers });
      });
    });
    asked.on('error', reject);
    asked.end(body && JSON.stringify(body));
  });
}

/** Like {@link ask}. @throws Error unless it is answered with 200 */
export async function call<Answer>(
  caller: Caller,
  method: string,
  path: string,
  body?: object,
): Promise<Answer> {
  const { status, text } = await ask(caller, method, path, body);
  if (status !== 200) throw new Error(`${method} ${path}: ${text}`);
  return JSON.parse(text) as Answer;
}
