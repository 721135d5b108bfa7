import { isUtf8 } from 'node:buffer';
import bodyParser from 'body-parser';
import type { Request, RequestHandler, Response } from 'express';
import { DomainError, ValidationError } from '../errors/domain-error.js';
import { sendContinue } from './continue.js';
import { configOf } from './request.js';

/** A request body: its text as it was sent, and what it means. */
export interface JsonText {
  text: string;
  value: Record<string, unknown>;
}

/** Which limit of the configuration holds for a body. */
export type BodyLimit = 'MAX_BODY_BYTES' | 'MAX_BATCH_BYTES';

const readers = new Map<number, RequestHandler>();

/**
 * Reads the body of a request as a JSON object. Only a route that wants a body calls this, after
 * the guards, so the body of a request that is not authenticated is never read.
 * @throws DomainError 415, 413, 400 in the order of the contract
 */
export async function readJsonObject(request: Request, limit: BodyLimit): Promise<JsonText> {
  if (!hasBody(request)) throw notAnObject();
  requireJsonType(request);
  const bytes = await readBytes(request, configOf(request)[limit]);
  if (bytes.length === 0) throw notAnObject();
  const text = textOf(bytes);
  const value = parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw notAnObject();
  return { text, value: value as Record<string, unknown> };
}

function hasBody({ headers }: Request): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function requireJsonType({ headers }: Request): void {
  const type = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
  if (type === 'application/json') return;
  throw new DomainError(
    'unsupported_media_type',
    'unsupported_media_type',
    'The header Content-Type must be application/json.',
  );
}

function readBytes(request: Request, limit: number): Promise<Buffer> {
  let read = readers.get(limit);
  if (!read) {
    read = bodyParser.raw({ limit, type: () => true });
    readers.set(limit, read);
  }
  // body-parser would read such a body to its end before it says so.
  if (isTooLong(request, limit)) throw tooLarge(limit);
  if (request.res) sendContinue(request, request.res);
  return new Promise((resolve, reject) => {
    void read(request, {} as Response, (error?: unknown) => {
      if (error) {
        // What the client still sends is read and thrown away, so that it hears our answer.
        request.resume();
        reject(readError(error, limit));
      } else resolve(Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0));
    });
  });
}

/** Whether the headers alone tell that the body is refused. */
function isTooLong({ headers }: Request, limit: number): boolean {
  const isPlain = (headers['content-encoding'] ?? 'identity') === 'identity';
  return isPlain && Number(headers['content-length'] ?? 0) > limit;
}

function readError(error: unknown, limit: number): DomainError {
  switch ((error as { type?: string }).type) {
    case 'entity.too.large':
      return tooLarge(limit);
    case 'encoding.unsupported':
      return new DomainError(
        'unsupported_media_type',
        'unsupported_media_type',
        'The header Content-Encoding must be gzip or absent.',
      );
    default:
      return malformed('The body could not be read as its headers describe it.');
  }
}

function tooLarge(limit: number): DomainError {
  return new DomainError(
    'too_large',
    'body_too_large',
    `The body must have at most ${String(limit)} bytes.`,
  );
}

function textOf(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw malformed('The body is not valid UTF-8.');
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return bytes.toString('utf8', hasMark ? 3 : 0);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const position = /position (\d+)/.exec((error as Error).message)?.[1];
    throw malformed(
      position === undefined
        ? 'The body is not valid JSON.'
        : `The body is not valid JSON (at character ${position}).`,
    );
  }
}

function malformed(message: string): DomainError {
  return new DomainError('malformed', 'malformed_json', message);
}

function notAnObject(): ValidationError {
  return ValidationError.of('', 'type', 'The body must be a JSON object.');
}
