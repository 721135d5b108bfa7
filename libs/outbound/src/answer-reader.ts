import type { IncomingHttpHeaders } from 'node:http';
import { TextDecoder } from 'node:util';
import { constants, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { DeadlineError } from './outbound-errors.js';
import { restoredHeaders } from './normalize-head.js';

/** How much of an answer's body is kept, before and after it is decompressed. */
export const MAX_BODY_BYTES = 4_096;
const UTF_8 = new TextDecoder();
/** The limit for the codings of one answer. */
const MAX_CODINGS = 3;
/** Decompresses a truncated body as far as possible, in steps of the size that is kept. */
const ZLIB = { finishFlush: constants.Z_SYNC_FLUSH, chunkSize: MAX_BODY_BYTES };

/** Not `br`, of which a few hundred bytes can take 16 MB and 50 ms before the first byte of the text. */
const DECODERS: Record<string, (body: Buffer) => Decoder> = {
  gzip: () => createGunzip(ZLIB),
  'x-gzip': () => createGunzip(ZLIB),
  // Some servers send what RFC 9110, section 8.4.1.2, calls deflate, and some send it without its frame.
  deflate: (body) => (hasZlibFrame(body) ? createInflate(ZLIB) : createInflateRaw(ZLIB)),
};
type Decoder = ReturnType<typeof createGunzip>;

/** The start of a body, and whether there was more. */
interface Start {
  body: Buffer;
  truncated: boolean;
}

/**
 * Headers that ask for an answer as it is, unless the customer asks for something else. Without them, a
 * target may choose any coding (RFC 9110, section 12.5.3).
 */
export function uncoded(headers: Record<string, string>): Record<string, string> {
  const isAsked = Object.keys(headers).some((name) => /^accept-encoding$/i.test(name));
  return isAsked ? headers : { ...headers, 'accept-encoding': 'identity' };
}

/** The codings to undo, in the order in which they were applied; none if one of them is unknown. */
function codingsOf({ 'content-encoding': header }: IncomingHttpHeaders): string[] {
  if (header === undefined) return [];
  // undici has an array if the header came several times.
  const names = [header]
    .flat()
    .join()
    .toLowerCase()
    .split(',', MAX_CODINGS + 1);
  const codings = names.map((name) => name.trim()).filter((name) => !/^(?:identity)?$/.test(name));
  const isKnown =
    codings.length <= MAX_CODINGS && codings.every((name) => Object.hasOwn(DECODERS, name));
  return isKnown ? codings : [];
}

/** Decompresses the start of a body, or returns it unchanged if that fails. Never rejects. */
export async function decompressed(start: Start, codings: readonly string[]): Promise<Start> {
  let { body, truncated } = start;
  for (const coding of codings.toReversed()) {
    const decoded = await startOf(coding, body);
    if (!decoded) return start;
    body = decoded.body;
    truncated ||= decoded.truncated;
  }
  return { body, truncated };
}

/** @returns undefined if nothing can be decompressed */
async function startOf(coding: string, body: Buffer): Promise<Start | undefined> {
  const decoder = DECODERS[coding]!(body);
  const chunks: Buffer[] = [];
  let size = 0;
  let isBroken = false;
  try {
    decoder.end(body);
    for await (const chunk of decoder as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      // Ends the decoder, because a few bytes can become gigabytes.
      if (size > MAX_BODY_BYTES) break;
    }
  } catch {
    if (size === 0) return undefined;
    isBroken = true;
  }
  const kept = Buffer.concat(chunks, Math.min(size, MAX_BODY_BYTES));
  return { body: kept, truncated: isBroken || size > MAX_BODY_BYTES };
}

/**
 * The text of a body: by its byte order mark, else in the charset that the header names, else in UTF-8.
 * Has neither U+0000, which PostgreSQL cannot store, nor lone surrogates.
 */
export function textOf({ body, truncated }: Start, headers: IncomingHttpHeaders): string {
  const [, label] = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(headers['content-type'] ?? '') ?? [];
  const charset = markOf(body) ?? label ?? 'utf-8';
  return decoded(body, charset, truncated).replaceAll('\0', '\ufffd');
}

/** Leaves out the start of a character where the body was cut. */
function decoded(body: Buffer, charset: string, truncated: boolean): string {
  if (/^utf-?8$/i.test(charset) && !truncated) return UTF_8.decode(body);
  const decoder = decoderOf(charset);
  // Only in a stream does Node 20 distinguish windows-1252 from ISO 8859-1.
  const text = decoder.decode(body, { stream: true });
  return truncated ? text : text + decoder.decode();
}

function decoderOf(charset: string): TextDecoder {
  try {
    return new TextDecoder(charset);
  } catch {
    // An unknown charset.
    return new TextDecoder();
  }
}

function markOf(body: Buffer): string | undefined {
  const mark = body.toString('hex', 0, 3);
  if (mark === 'efbbbf') return 'utf-8';
  if (mark.startsWith('fffe')) return 'utf-16le';
  return mark.startsWith('feff') ? 'utf-16be' : undefined;
}

/** Whether the body starts with a zlib header (RFC 1950). */
function hasZlibFrame(body: Buffer): boolean {
  return body.length > 1 && (body[0]! & 0x0f) === 8 && body.readUInt16BE(0) % 31 === 0;
}

/** How long an answer's body is read. */
const BODY_MS = 1_000;

/** An answer, with the start of its body. */
export interface Answer {
  status: number;
  /** When its headers had arrived, as `performance.now()`. */
  at: number;
  headers: IncomingHttpHeaders;
  responseBody?: string;
  /** How long reading the body took, in ms. */
  bodyMs: number;
  /** Whether the body was longer, or did not arrive in time. */
  truncated: boolean;
}

/**
 * Reads the answer to one request of undici's `dispatch`. undici's `request` would create a stream for each
 * body, and most bodies are empty.
 */
export class AnswerReader implements Dispatcher.DispatchHandler {
  private controller: Dispatcher.DispatchController | undefined;
  private timer: NodeJS.Timeout;
  private failure: Error | undefined;
  private answer: Pick<Answer, 'status' | 'at' | 'headers'> | undefined;
  private body: Buffer | undefined;
  private size = 0;
  private isSettled = false;

  /**
   * @param timeoutMs until the headers of the answer
   * @param reject called with a DeadlineError or undici's error
   */
  constructor(
    timeoutMs: number,
    private readonly resolve: (answer: Answer | Promise<Answer>) => void,
    private readonly reject: (error: Error) => void,
  ) {
    // Sockets are read after timers: if the process itself was late, the answer may already be there.
    this.timer = setTimeout(() => setImmediate(() => this.giveUp()), timeoutMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    // The timeout came first, so nothing is sent.
    if (this.failure) controller.abort(this.failure);
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    if (this.failure) return;
    clearTimeout(this.timer);
    this.answer = { status, at: performance.now(), headers: restoredHeaders(headers) };
    this.timer = setTimeout(() => this.cut(), BODY_MS);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    // Copied, because keeping one-byte chunks would take a hundred times as much memory.
    this.body ??= Buffer.allocUnsafeSlow(MAX_BODY_BYTES);
    const copied = chunk.copy(this.body, this.size);
    this.size += copied;
    if (copied < chunk.length) this.cut();
  }

  onResponseEnd(): void {
    this.settle(false);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    // If the connection was lost during the body, the status counts and the received part is kept.
    if (this.answer) this.settle(true);
    else this.fail(error);
  }

  private giveUp(): void {
    if (this.answer) return;
    const failure = new DeadlineError();
    this.fail(failure);
    this.controller?.abort(failure);
  }

  private cut(): void {
    this.settle(true);
    this.controller?.abort(new Error('enough of the answer was read'));
  }

  private fail(error: Error): void {
    clearTimeout(this.timer);
    this.failure ??= error;
    this.reject(error);
  }

  private settle(truncated: boolean): void {
    clearTimeout(this.timer);
    const { answer, body } = this;
    if (!answer || this.isSettled) return;
    this.isSettled = true;
    const bodyMs = performance.now() - answer.at;
    if (!body) {
      this.resolve({ ...answer, bodyMs, truncated });
      return;
    }
    const finish = (start: { body: Buffer; truncated: boolean }): Answer => {
      const text = textOf(start, answer.headers);
      return { ...answer, ...(text && { responseBody: text }), bodyMs, truncated: start.truncated };
    };
    const start = { body: body.subarray(0, this.size), truncated };
    const codings = codingsOf(answer.headers);
    // Most answers need no promise.
    if (codings.length === 0) this.resolve(finish(start));
    else this.resolve(decompressed(start, codings).then(finish));
  }
}
