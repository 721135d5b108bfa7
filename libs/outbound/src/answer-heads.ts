import type { Socket } from 'node:net';
import { AnswerError, normalizedHead } from './normalize-head.js';

const HTTP = Buffer.from('HTTP/1.');
const EMPTY: Buffer = Buffer.alloc(0);
const CR = 0x0d;
const LF = 0x0a;

/** The limit for the head of an answer, and for all interim answers before it. */
const MAX_HEAD_BYTES = 65_536;
/** The limit for one head. Each line costs 10 µs. */
const MAX_HEAD_LINES = 256;
/** The limit for empty lines before a head, in bytes. */
const MAX_LEADING = 16;
/** The limit for interim answers to one request, which would otherwise keep us busy until the deadline. */
const MAX_INTERIM = 16;
const SWITCHING_PROTOCOLS = 101;
/** The limit for trailers and the stored part of the body, even in one-byte chunks. */
const MAX_BODY_BYTES = 32_768;

/** The state of reading the answer to a request. */
class Reading {
  interim = 0;
  interimBytes = 0;
  inHead = true;
  /** How many more bytes may follow the head. */
  left = MAX_BODY_BYTES;
  private leading = 0;
  /** The start of the head's current line, and the index up to which it was read. */
  private at = 0;
  private read = 0;
  private lines = 0;

  /** Removes empty lines before a head, which a parser may ignore (RFC 9112, section 2.2). @throws AnswerError */
  withoutLeading(text: Buffer): Buffer {
    let start = 0;
    while (text[start] === CR || text[start] === LF) start += 1;
    this.leading += start;
    if (this.leading > MAX_LEADING) throw new AnswerError();
    return start === 0 ? text : text.subarray(start);
  }

  /**
   * @param held the bytes of the current head so far, perhaps with bytes after it
   * @returns where the head ends; undefined if it is not complete
   * @throws AnswerError
   */
  endOfHead(held: Buffer): number | undefined {
    if (!mayStartWith(held, HTTP)) throw new AnswerError();
    for (;;) {
      const end = held.indexOf(LF, this.read);
      this.read = end < 0 ? held.length : end + 1;
      if (this.read > MAX_HEAD_BYTES) throw new AnswerError();
      if (end < 0) return undefined;
      this.lines += 1;
      if (this.lines > MAX_HEAD_LINES) throw new AnswerError();
      // A line may end with a bare LF, and any CR before it is ignored (RFC 9112, section 2.2).
      let last = end - 1;
      while (last >= this.at && held[last] === CR) last -= 1;
      const isEmpty = last < this.at;
      this.at = this.read;
      if (!isEmpty) continue;
      [this.at, this.read, this.lines] = [0, 0, 0];
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
 * Passes heads to undici only when they are complete and normalized. Closes the connection when an answer is
 * too long, because undici creates an error for each header beyond its limit. Discards interim answers, which
 * a client may ignore (RFC 9110, section 15.2); undici would drop the connection after an unexpected
 * `100 Continue`.
 */
export function readByHeads(socket: Socket): void {
  const read = socket.read.bind(socket) as (size?: number) => Buffer | null;
  /** The current head as far as it was received, and the memory that it was copied to, if any. */
  let held = EMPTY;
  let room = EMPTY;
  const readHeads = (size?: number): Buffer | null => {
    const reading = readings.get(socket);
    if (!reading) return read(size);
    try {
      return reading.inHead ? nextHead(reading, size) : afterHead(reading, size);
    } catch (error) {
      held = room = EMPTY;
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
        const { status, bytes } = normalizedHead(head);
        // We never ask for another protocol.
        if (status === SWITCHING_PROTOCOLS) throw new AnswerError();
        if (status >= 200) {
          reading.inHead = false;
          const body = reading.passed(rest);
          const all = held.subarray(0, end + body.length);
          held = room = EMPTY;
          return bytes === head ? all : Buffer.concat([bytes, body]);
        }
        reading.interimAnswer(head.length);
        held = reading.withoutLeading(rest);
        continue;
      }
      const more = read(size);
      if (!more) return null;
      silent.delete(socket);
      held = held.length === 0 ? reading.withoutLeading(more) : appended(more);
    }
  }

  /** Doubles the room when it is full, so that a head that arrives byte by byte is not copied each time. */
  function appended(more: Buffer): Buffer {
    const length = held.length + more.length;
    const isThere = held.buffer === room.buffer && held.byteOffset === room.byteOffset;
    if (!isThere || room.length < length) {
      room = Buffer.allocUnsafeSlow(2 * length);
      held.copy(room);
    }
    more.copy(room, held.length);
    return room.subarray(0, length);
  }

  function afterHead(reading: Reading, size: number | undefined): Buffer | null {
    const more = read(size);
    return more && reading.passed(more);
  }
}

/** Whether a text, possibly incomplete, starts with `start`. */
function mayStartWith(text: Buffer, start: Buffer): boolean {
  const length = Math.min(text.length, start.length);
  return text.compare(start, 0, length, 0, length) === 0;
}
