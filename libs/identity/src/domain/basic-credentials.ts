import { isUtf8 } from 'node:buffer';

/** A username and a password, as sent in a request. */
export interface BasicCredentials {
  username: string;
  password: string;
}

const SCHEME = /^basic +([A-Za-z0-9+/_-]+={0,2}) *$/i;

/**
 * The pair in an `Authorization` header (RFC 7617): UTF-8 or, if it is none, ISO 8859-1; separated by the first
 * colon.
 * @returns undefined for any other header
 */
export function basicCredentialsOf(header: string): BasicCredentials | undefined {
  const encoded = SCHEME.exec(header)?.[1];
  if (encoded === undefined) return undefined;
  const bytes = Buffer.from(encoded, 'base64');
  // Clients that follow RFC 2617 send ISO 8859-1, such as requests (Python) and LWP (Perl).
  const pair = bytes.toString(isUtf8(bytes) ? 'utf8' : 'latin1');
  const colon = pair.indexOf(':');
  if (colon < 0) return undefined;
  return { username: pair.slice(0, colon), password: pair.slice(colon + 1) };
}

/** The canonical header of a pair, which has many spellings: blanks, padding, accents, the scheme's case. */
export function canonicalHeader({ username, password }: BasicCredentials): string {
  const pair = `${username}:${password.normalize('NFC')}`;
  return `Basic ${Buffer.from(pair).toString('base64')}`;
}
