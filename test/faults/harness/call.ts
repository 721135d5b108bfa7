import { request } from 'node:http';

/** A request to an API, on a connection of its own. @throws Error when it is not answered with 200 */
export function call<Answer>(
  { url, auth }: { url: string; auth: string },
  method: string,
  path: string,
  body?: object,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', connection: 'close' };
    const asked = request(url + path, { method, headers, auth, agent: false }, (response) => {
      let text = '';
      response.on('error', reject);
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => {
        if (response.statusCode === 200) resolve(JSON.parse(text) as Answer);
        else reject(new Error(`${method} ${path}: ${text}`));
      });
    });
    asked.on('error', reject);
    asked.end(body && JSON.stringify(body));
  });
}
