import type { IncomingMessage } from 'node:http';

/**
 * Finds a part of a request that a proxy in front of us may interpret differently, which allows request
 * smuggling (RFC 9112, section 11.2). Node's parser refuses most such requests; this catches the rest. A
 * target in absolute form with a different Host is not ambiguous, because the header is then ignored (section
 * 3.2.2).
 * @returns the error message, if there is such a part
 */
export function ambiguityIn(request: IncomingMessage): string | undefined {
  const { httpVersionMajor, httpVersionMinor, headers, rawHeaders } = request;
  if (httpVersionMajor !== 1) return 'The version of HTTP must be 1.0 or 1.1.';
  const encoding = headers['transfer-encoding'];
  if (encoding !== undefined && (encoding.toLowerCase() !== 'chunked' || httpVersionMinor === 0)) {
    return 'The header Transfer-Encoding must be chunked or absent, and absent in HTTP/1.0.';
  }
  if (hasTwoHosts(rawHeaders)) return 'The header Host must be given only once.';
  return undefined;
}

function hasTwoHosts(rawHeaders: readonly string[]): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts > 1;
}
