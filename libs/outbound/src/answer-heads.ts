import type { Socket } from 'node:net';

const HTTP = Buffer.from('HTTP/1.');
const INTERIM = Buffer.from('HTTP/1.1 1');
const CONTINUE = Buffer.from('HTTP/1.1 100 ');
const EMPTY: Buffer = Buffer.alloc(0);
const CR = 0x0d;
const LF = 0x0a;

/** Of the head of an answer, or of all interim ones before it. */
const MAX_HEAD_BYTES = 65_536;
/** Of one head. Each costs 10 µs. */
const MAX_HEAD_LINES = 256;
/** Interim answers to one request. A server that sends more would keep us busy until the deadline. */
const MAX_INTERIM = 16;
/** Of what comes behind the head: the body that is kept, were it in chunks of a byte, and trailers. */
const MAX_BODY_BYTES = 32_768;

/** A head, interim answers or trailers without end, or what is no answer of HTTP/1. */
class AnswerError extends Error {
  readonly code = 'EANSWER';

  constructor() {
    super('the answer is none, or has no end');
  }
}

/** The answer to a request, as far as it was read. */
class Reading {
  interim = 0;
  interimBytes = 0;
  inHead = true;
  private isFirst = true;
  /** How much more may come behind the head, in bytes. */
  left = MAX_BODY_BYTES;
  /** Where the next line of the present head starts. */
  private at = 0;
  private lines = 0;

  /** What is read first, without the empty line that a parser ignores (RFC 9112, section 2.2). */
  started(text: Buffer): Buffer {
    const hasEmptyLine = this.isFirst && text[0] === CR && text[1] === LF;
    this.isFirst = false;
    return hasEmptyLine ? text.subarray(2) : text;
  }

  /**
   * @param held what was read of the present head, and maybe more
   * @returns where the head ends; undefined: not yet
   * @throws AnswerError
   */
  endOfHead(held: Buffer): number | undefined {
    if (!mayStartWith(held, HTTP)) throw new AnswerError();
    for (;;) {
      const end = held.indexOf(LF, this.at);
      if (end > MAX_HEAD_BYTES || (end < 0 && held.length > MAX_HEAD_BYTES))
        throw new AnswerError();
      if (end < 0) return undefined;
      const isEmpty = end === this.at + 1;
      this.lines += 1;
      if (held[end - 1] !== CR || this.lines > MAX_HEAD_LINES) throw new AnswerError();
      this.at = end + 1;
      if (!isEmpty) continue;
      [this.at, this.lines] = [0, 0];
      return end + 1;
    }
  }

  /** @throws AnswerError */
  interimAnswer(bytes: number): void {
    this.interim += 1;
    this.interimBytes += bytes;
    const isTooMuch = this.interim > MAX_INTERIM || this.interimBytes > MAX_HEAD_BYTES;
    if (isTooMuch) throw new AnswerError();
  }

  /** As much of what comes behind the head as may still come. @throws AnswerError */
  passed(body: Buffer): Buffer {
    if (this.left <= 0) throw new AnswerError();
    const passed = body.subarray(0, this.left);
    this.left -= body.length;
    return passed;
  }
}

/** Connections that a request was sent on, and what came of its answer. */
const readings = new WeakMap<Socket, Reading>();
/** Of which nothing was read since the request. */
const silent = new WeakSet<Socket>();

/** Says that a request was sent: what comes next on the connection is the head of an answer. */
export function expectAnswer(socket: Socket): void {
  readings.set(socket, new Reading());
  silent.add(socket);
}

/** Whether not a byte, of an interim answer or through TLS, has come since the request was sent. */
export function isSilent(socket: Socket): boolean {
  return silent.has(socket) && socket.readableLength === 0;
}

/**
 * Passes on what a connection reads by whole heads, and ends the connection where an answer does not end:
 * undici makes an error for each header beyond its limit. `100 Continue`, which some servers send unasked,
 * is left out: a client can simply discard it (RFC 9110, section 15.2.1); undici drops the connection, and
 * with it the answer that follows.
 */
export function readByHeads(socket: Socket): void {
  const read = socket.read.bind(socket) as (size?: number) => Buffer | null;
  let held = EMPTY;
  socket.read = (size?: number): Buffer | null => {
    const reading = readings.get(socket);
    if (!reading) return read(size);
    try {
      return reading.inHead ? nextHead(reading, size) : behindHead(reading, size);
    } catch (error) {
      held = EMPTY;
      socket.destroy(error as AnswerError);
      return null;
    }
  };

  function nextHead(reading: Reading, size: number | undefined): Buffer | null {
    for (;;) {
      const end = reading.endOfHead(held);
      if (end !== undefined) {
        const head = held.subarray(0, end);
        const rest = held.subarray(end);
        if (!mayStartWith(head, INTERIM)) {
          reading.inHead = false;
          const all = held.subarray(0, end + (rest.length > 0 ? reading.passed(rest).length : 0));
          held = EMPTY;
          return all;
        }
        held = rest.length === 0 ? EMPTY : rest;
        reading.interimAnswer(head.length);
        if (!mayStartWith(head, CONTINUE)) return head;
        continue;
      }
      const more = read(size);
      if (!more) return null;
      silent.delete(socket);
      held = held.length === 0 ? reading.started(more) : Buffer.concat([held, more]);
    }
  }

  function behindHead(reading: Reading, size: number | undefined): Buffer | null {
    const more = read(size);
    return more && reading.passed(more);
  }
}

/** Whether a text starts with another one, as far as it goes. */
function mayStartWith(text: Buffer, start: Buffer): boolean {
  const length = Math.min(text.length, start.length);
  return text.compare(start, 0, length, 0, length) === 0;
}
