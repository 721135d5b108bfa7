import type { Socket } from 'node:net';

const HTTP = Buffer.from('HTTP/1.');
const INTERIM = Buffer.from('HTTP/1.1 1');
const CONTINUE = Buffer.from('HTTP/1.1 100 ');
const HEAD_END = '\r\n\r\n';
/** Of the head of an answer, or of all interim ones before it. */
const MAX_HEAD_BYTES = 65_536;
/** Interim answers to one request. A server that sends more would keep us busy until the deadline. */
const MAX_INTERIM = 16;

/** A head, or interim answers, without end. */
class HeadError extends Error {
  readonly code = 'EHEAD';

  constructor() {
    super('the head of the answer is too long');
  }
}

/** Connections on which the head of an answer comes next, and the interim answers before it so far. */
const expecting = new WeakMap<Socket, { interim: number; bytes: number }>();
/** Of which nothing was read since the request. */
const silent = new WeakSet<Socket>();

/** Says that a request was sent: what comes next on the connection is the head of an answer. */
export function expectAnswer(socket: Socket): void {
  expecting.set(socket, { interim: 0, bytes: 0 });
  silent.add(socket);
}

/** Whether not a byte, of an interim answer or through TLS, has come since the request was sent. */
export function isSilent(socket: Socket): boolean {
  return silent.has(socket) && socket.readableLength === 0;
}

/**
 * Passes on what a connection reads by whole heads. `100 Continue`, which some servers send unasked, is
 * left out: a client can simply discard it (RFC 9110, section 15.2.1); undici drops the connection, and
 * with it the answer that follows. Of interim answers there may be a few, and a head may have 64 KiB; more
 * ends the connection. Undici would make an error for each header beyond.
 */
export function readByHeads(socket: Socket): void {
  const read = socket.read.bind(socket) as (size?: number) => Buffer | null;
  let held: Buffer = Buffer.alloc(0);
  socket.read = (size?: number): Buffer | null => {
    const expected = expecting.get(socket);
    if (!expected) return read(size);
    for (;;) {
      const end = held.indexOf(HEAD_END);
      if (!mayStartWith(held, HTTP) || (end >= 0 && !mayStartWith(held, INTERIM))) {
        expecting.delete(socket);
        return release(held.length);
      }
      if (end >= 0) {
        const head = release(end + HEAD_END.length);
        expected.interim += 1;
        expected.bytes += head.length;
        if (expected.interim > MAX_INTERIM || expected.bytes > MAX_HEAD_BYTES) return refuse();
        if (!mayStartWith(head, CONTINUE)) return head;
        continue;
      }
      if (held.length > MAX_HEAD_BYTES) return refuse();
      const more = read(size);
      if (!more) return null;
      silent.delete(socket);
      held = held.length === 0 ? more : Buffer.concat([held, more]);
    }
  };

  function refuse(): null {
    socket.destroy(new HeadError());
    return null;
  }

  function release(length: number): Buffer {
    const released = held.subarray(0, length);
    held = held.subarray(length);
    return released;
  }
}

/** Whether a text starts with another one, as far as it goes. */
function mayStartWith(text: Buffer, start: Buffer): boolean {
  const length = Math.min(text.length, start.length);
  return text.compare(start, 0, length, 0, length) === 0;
}
