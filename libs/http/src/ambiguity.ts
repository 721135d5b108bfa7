import type { IncomingMessage } from 'node:http';

/**
 * What of a request a proxy in front of us may take for something else than we do, in a sentence;
 * that is how one request is smuggled inside another (RFC 9112, section 11.2). Node's parser
 * refuses most of it before there is a request; this is what it lets through. A target in absolute
 * form with another Host is none of it: that header is to be ignored then (section 3.2.2).
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
