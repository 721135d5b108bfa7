import type { Socket } from 'node:net';

const HTTP = Buffer.from('HTTP/1.');
const INTERIM = Buffer.from('HTTP/1.1 1');
const CONTINUE = Buffer.from('HTTP/1.1 100 ');
const EMPTY: Buffer = Buffer.alloc(0);
const CR = 0x0d;
const LF = 0x0a;

/** The limit for the head of an answer, and for all interim answers before it. */
const MAX_HEAD_BYTES = 65_536;
/** The limit for one head. Each line costs 10 µs. */
const MAX_HEAD_LINES = 256;
/** Interim answers to one request. A server that sends more would keep us busy until the deadline. */
const MAX_INTERIM = 16;
/** The limit for trailers and the stored part of the body, even in one-byte chunks. */
const MAX_BODY_BYTES = 32_768;

/** The answer is not HTTP/1, or its head, interim answers or trailers are too long. */
class AnswerError extends Error {
  readonly code = 'EANSWER';

  constructor() {
    super('the answer is not HTTP/1, or is too long');
  }
}

/** The state of reading the answer to a request. */
class Reading {
  interim = 0;
  interimBytes = 0;
  inHead = true;
  private isFirst = true;
  /** How many more bytes may follow the head. */
  left = MAX_BODY_BYTES;
  /** Where the next line of the current head starts. */
  private at = 0;
  private lines = 0;

  /** Removes a leading empty line, which a parser ignores (RFC 9112, section 2.2). */
  started(text: Buffer): Buffer {
    const hasEmptyLine = this.isFirst && text[0] === CR && text[1] === LF;
    this.isFirst = false;
    return hasEmptyLine ? text.subarray(2) : text;
  }

  /**
   * @param held the bytes of the current head so far, perhaps with bytes after it
   * @returns where the head ends; undefined if it is not complete
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

  /** Cuts bytes after the head at the limit. @throws AnswerError if the limit was reached before */
  passed(body: Buffer): Buffer {
    if (this.left <= 0) throw new AnswerError();
    const passed = body.subarray(0, this.left);
    this.left -= body.length;
    return passed;
  }
}

/** The current answer on each connection. */
const readings = new WeakMap<Socket, Reading>();
/** Connections on which nothing was read since the request. */
const silent = new WeakSet<Socket>();

/** Call when a request is sent: the next bytes on the connection are the head of an answer. */
export function expectAnswer(socket: Socket): void {
  readings.set(socket, new Reading());
  silent.add(socket);
}

/** Whether no byte has arrived since the request was sent, not even of an interim answer or TLS. */
export function isSilent(socket: Socket): boolean {
  return silent.has(socket) && socket.readableLength === 0;
}

/**
 * Passes heads to undici only when they are complete, and closes the connection when an answer is too long,
 * because undici creates an error for each header beyond its limit. Discards `100 Continue`, which some
 * servers send without being asked: a client may ignore it (RFC 9110, section 15.2.1), but undici would drop
 * the connection with the answer that follows.
 */
export function readByHeads(socket: Socket): void {
  const read = socket.read.bind(socket) as (size?: number) => Buffer | null;
  let held = EMPTY;
  const readHeads = (size?: number): Buffer | null => {
    const reading = readings.get(socket);
    if (!reading) return read(size);
    try {
      return reading.inHead ? nextHead(reading, size) : afterHead(reading, size);
    } catch (error) {
      held = EMPTY;
      socket.destroy(error as AnswerError);
      return null;
    }
  };
  socket.read = readHeads;

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

  function afterHead(reading: Reading, size: number | undefined): Buffer | null {
    const more = read(size);
    return more && reading.passed(more);
  }
}

/** Whether a text starts with `start`, or with the beginning of it if the text is shorter. */
function mayStartWith(text: Buffer, start: Buffer): boolean {
  const length = Math.min(text.length, start.length);
  return text.compare(start, 0, length, 0, length) === 0;
}
