import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gunzip, gunzipSync } from 'node:zlib';
import type { Request } from 'express';
import { DomainError, ValidationError } from '#libs/kernel';
import type { Config } from '#libs/runtime';
import { isWaiting, sendContinue } from './http-messages.js';
import { malformed } from './problem.js';
import { configOf } from './request.js';

/** What limits the size of a body: a setting or, for logins, a number of bytes. */
export type BodyLimit = 'MAX_BODY_BYTES' | 'MAX_BATCH_BYTES' | typeof MAX_LOGIN_BYTES;

/** The size limit of a login's body, in bytes: it is read before its sender is authenticated. */
export const MAX_LOGIN_BYTES = 1_024;

/** The most bytes that a body may have. */
export function bytesOf(
  limit: BodyLimit,
  config: Pick<Config, 'MAX_BODY_BYTES' | 'MAX_BATCH_BYTES'>,
): number {
  return typeof limit === 'number' ? limit : config[limit];
}

/** Levels of objects and arrays in a body or in an event of a batch. No known client sends as many. */
export const MAX_DEPTH = 64;

/** How many values a body may contain: one for every 16 bytes of its size limit. */
export function maxValues(bytes: number): number {
  return bytes >> 4;
}

/** Chunks of a body to keep before merging them: each costs half a kilobyte, however short it is. */
const MAX_CHUNKS = 128;
/** From this many bytes on, each chunk is copied when it arrives: to merge 8 MB takes 7 ms. */
const MERGED_LATER = 512 << 10;

/**
 * Fails the current and any later read of a request's body, because no more of it will arrive.
 * @param reason the error of those reads
 */
export function breakBody(message: IncomingMessage, reason = unreadable()): void {
  const request = message as Request;
  request.bodyFailure = reason;
  request.failBody?.(reason);
}

/**
 * Reads the body of a request that has to be JSON, in UTF-8. Routes call this after the guards, so no body of an
 * unauthenticated request is read but a login's.
 * @throws DomainError 415, 413, 408, 400 in the order of the contract
 */
export async function readJsonBytes(request: Request, limit: BodyLimit): Promise<Buffer> {
  if (!(await hasBody(request))) throw isMissing();
  requireJsonType(request);
  requireKnownEncoding(request);
  const bytes =
    limit === MAX_LOGIN_BYTES
      ? await readLogin(request)
      : await readBytes(request, bytesOf(limit, configOf(request)));
  if (bytes.length === 0) throw isMissing();
  if (!isUtf8(bytes)) throw malformed('The body is not valid UTF-8.');
  return bytes;
}

/** The start of the text of a body, after its byte order mark. */
export function textStart(bytes: Buffer): number {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
}

/** How much longer gzip may make a body that it cannot compress. */
const MAX_GZIP_BYTES = 4_096;

/** Whether there is a body. A chunked one may be empty, which matters if its type would be refused. */
async function hasBody(request: Request): Promise<boolean> {
  const { 'transfer-encoding': chunked, 'content-length': length = 0 } = request.headers;
  if (chunked === undefined) return Number(length) > 0;
  if (isJson(request) || isWaiting(request) || request.bodyFailure) return true;
  return new Promise((resolve) => {
    request.once('data', () => resolve(true));
    request.once('end', () => resolve(false));
    // If the client has disconnected, neither event occurs.
    if (request.destroyed) resolve(true);
    request.once('close', () => resolve(true));
    const end = (): void => resolve(true);
    request.failBody = end;
  });
}

/** Whether the content type is JSON. */
export function isJson({ headers }: Request): boolean {
  const { 'content-type': type } = headers;
  // The usual case, checked twice for each request.
  if (type === 'application/json') return true;
  return type?.split(';', 1)[0]?.trim().toLowerCase() === 'application/json';
}

function requireJsonType(request: Request): void {
  if (isJson(request)) return;
  throw unsupported('The header Content-Type must be application/json.');
}

export function unsupported(message: string): DomainError {
  return new DomainError('unsupported_media_type', 'unsupported_media_type', message);
}

function requireKnownEncoding({ headers }: Request): void {
  const encoding = headers['content-encoding']?.toLowerCase() ?? 'identity';
  if (['identity', 'gzip'].includes(encoding)) return;
  // An alias of gzip (RFC 9110, section 8.4.1.3).
  if (encoding === 'x-gzip') headers['content-encoding'] = 'gzip';
  else throw unsupported('The header Content-Encoding must be gzip or absent.');
}

async function readLogin(request: Request): Promise<Buffer> {
  try {
    return await readBytes(request, MAX_LOGIN_BYTES);
  } catch (error) {
    // Nothing more is read on this connection.
    request.res?.setHeader('Connection', 'close');
    throw error;
  }
}

/**
 * A compressed body stays in memory as it was sent until it is whole: its sender can stop at any byte, and each
 * inflation under way takes 50 KB.
 */
async function readBytes(request: Request, limit: number): Promise<Buffer> {
  if (isPlain(request)) return readAsSent(request, limit);
  const isLogin = limit === MAX_LOGIN_BYTES;
  const sent = await readAsSent(request, isLogin ? limit : limit + MAX_GZIP_BYTES);
  if (sent.length === 0) return sent;
  request.inFlight?.hold(limit);
  const options = { maxOutputLength: limit };
  // A login at once: inflations that wait for a thread would take memory for senders without an account.
  const inflated = isLogin
    ? Promise.resolve().then(() => gunzipSync(sent, options))
    : inflate(sent, options);
  const bytes = await inflated.catch((error: unknown) => {
    const isTooLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    throw isTooLarge ? tooLarge(limit, ' after decompression') : unreadable();
  });
  request.inFlight?.hold(bytes.length);
  request.body = bytes;
  return bytes;
}

const inflate = promisify<Buffer, object, Buffer>(gunzip);
function readAsSent(request: Request, limit: number): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge(limit);
  if (request.bodyFailure) throw request.bodyFailure;
  // No event will follow, not even an error.
  if (request.destroyed) throw unreadable();
  if (request.res) sendContinue(request, request.res);
  return new Promise((resolve, reject) => {
    request.failBody = reject;
    receive(request, limit, resolve, reject);
  });
}

type Resolve = (bytes: Buffer) => void;
type Reject = (error: DomainError) => void;

/** Two listeners: body-parser took 5 % of the time of an event. */
function receive(request: Request, limit: number, resolve: Resolve, reject: Reject): void {
  let chunks: Buffer[] = [];
  let size = 0;
  let long: Buffer | undefined;
  let isRefused = false;
  // Keep reading and discarding data, so that the client can receive our answer.
  const refuse = (reason: DomainError): void => {
    isRefused = true;
    chunks = [];
    long = undefined;
    request.inFlight?.hold(0);
    reject(reason);
  };
  request.on('data', (chunk: Buffer) => {
    if (isRefused) return;
    size += chunk.length;
    if (size > limit) {
      refuse(tooLarge(limit));
      return;
    }
    if (long) chunk.copy(long, size - chunk.length);
    else chunks.push(chunk);
    if (chunks.length === MAX_CHUNKS) chunks = [Buffer.concat(chunks)];
    if (!long && size >= MERGED_LATER) {
      // Memory that nothing is copied to is not used.
      long = Buffer.allocUnsafe(Number(request.headers['content-length'] ?? limit));
      Buffer.concat(chunks).copy(long);
      chunks = [];
    }
    try {
      request.inFlight?.hold(size);
    } catch (error) {
      refuse(error as DomainError);
    }
  });
  request.once('end', () => {
    const bytes =
      long?.subarray(0, size) ?? (chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
    // For later readers.
    request.body = bytes;
    resolve(bytes);
  });
  request.once('error', () => reject(unreadable()));
}

/** Whether the body is not compressed. */
function isPlain({ headers }: Request): boolean {
  return (headers['content-encoding']?.toLowerCase() ?? 'identity') === 'identity';
}

function unreadable(): DomainError {
  return malformed('The body could not be read as its headers describe it.');
}

export function tooLarge(limit: number, when = ''): DomainError {
  return new DomainError(
    'too_large',
    'body_too_large',
    `The body must have at most ${String(limit)} bytes${when}.`,
  );
}

/** @param at the position in the text, in characters */
export function tooManyValues(most: number, at: number): ValidationError {
  const says = `must have at most ${String(most)} values (this is exceeded at character ${String(at)})`;
  return ValidationError.of('', 'length', `The body ${says}.`);
}

/** @param at the position in the text, in characters */
export function tooDeep(at: number): ValidationError {
  const says = `must have at most ${String(MAX_DEPTH)} levels (this is exceeded at character ${String(at)})`;
  return ValidationError.of('', 'length', `The body ${says}.`);
}

/** @param at the byte at which it stops being JSON */
export function notJson(bytes: Buffer, at: number): DomainError {
  // ASCII in UTF-16 is valid UTF-8, with a U+0000 beside each character.
  const hint = bytes.subarray(Math.max(0, at - 1), at + 1).includes(0)
    ? '; UTF-16 is not accepted'
    : '';
  return malformed(`The body is not valid JSON (at byte offset ${String(at)}${hint}).`);
}

export function notAnObject(): ValidationError {
  return ValidationError.of('', 'type', 'The body must be a JSON object.');
}

function isMissing(): ValidationError {
  return ValidationError.of('', 'type', 'The body is missing: it must be a JSON object.');
}
