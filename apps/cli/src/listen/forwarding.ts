import { request } from 'undici';

const TIMEOUT_MS = 30_000;
/** Headers of a single connection (RFC 9110, section 7.6.1), and headers that depend on the body and the target. */
const OF_CONNECTION =
  /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|host|content-length|expect)$/;

/** Posts a notification to a web application. @returns its status, or why there is none */
export async function forward(
  url: URL,
  headers: NodeJS.Dict<string | string[]>,
  body: Buffer | string,
): Promise<number | string> {
  const passed = Object.entries(headers).filter(([name]) => !OF_CONNECTION.test(name));
  try {
    const answer = await request(url, {
      method: 'POST',
      headers: Object.fromEntries(passed) as Record<string, string | string[]>,
      body,
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: TIMEOUT_MS,
    });
    await answer.body.dump();
    return answer.statusCode;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code ?? message;
  }
}
