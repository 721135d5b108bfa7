import { codePoints } from '#libs/kernel';
import { PASSWORD_MAX } from './user.js';

/** A username and a password, as sent in a request. */
export interface BasicCredentials {
  username: string;
  password: string;
}

/** Bytes of a username, a colon and a password; the longest valid ones have 865. */
const MAX_BYTES = 1_024;
/** Bytes of a header with that many bytes in Base64. */
const MAX_HEADER = 'Basic '.length + 4 * Math.ceil(MAX_BYTES / 3);
/** Code points of a username. */
const USERNAME_MAX = 200;

const SCHEME = /^basic +([A-Za-z0-9+/_-]+={0,2}) *$/i;

/**
 * The pair in an `Authorization` header (RFC 7617), in UTF-8 or else ISO 8859-1.
 * @returns undefined for any other header and for one that is too long
 */
export function basicCredentialsOf(header: string): BasicCredentials | undefined {
  if (!canBeCredentials(header)) return undefined;
  const encoded = SCHEME.exec(header)?.[1];
  if (encoded === undefined) return undefined;
  const pair = textOf(Buffer.from(encoded, 'base64'));
  const colon = pair.indexOf(':');
  if (colon < 0) return undefined;
  return { username: pair.slice(0, colon), password: pair.slice(colon + 1) };
}

/** Whether a header is short enough to parse; checked first, because anybody can send it. */
export function canBeCredentials(header: string): boolean {
  return header.length <= MAX_HEADER;
}

/**
 * Whether a pair is no longer than the longest valid one. Its sender is unauthenticated, and normalising a text
 * can take quadratic time.
 */
export function isBounded({ username, password }: BasicCredentials): boolean {
  // First, because counting bytes and code points takes memory.
  if (username.length + password.length >= MAX_BYTES) return false;
  if (Buffer.byteLength(username) + Buffer.byteLength(password) >= MAX_BYTES) return false;
  return codePoints(username) <= USERNAME_MAX && codePoints(password) <= PASSWORD_MAX;
}

/**
 * The canonical header of a pair, whose blanks, padding, accents and case of the scheme can vary.
 * @param pair is {@link isBounded}
 */
export function canonicalHeader({ username, password }: BasicCredentials): string {
  const pair = `${username}:${password.normalize('NFC')}`;
  return `Basic ${Buffer.from(pair).toString('base64')}`;
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function textOf(bytes: Buffer): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    // Clients that follow RFC 2617 send ISO 8859-1, such as requests (Python) and LWP (Perl).
    return bytes.toString('latin1');
  }
}
