import type { Socket } from 'node:net';

const INTERIM = Buffer.from('HTTP/1.1 1');
const CONTINUE = Buffer.from('HTTP/1.1 100 ');
const HEAD_END = '\r\n\r\n';
const MAX_HEAD_BYTES = 65_536;
/** Of interim answers to one request. A server that sends more would keep us busy until the deadline. */
const MAX_INTERIM = 16;
const MAX_INTERIM_BYTES = 65_536;

/** Interim answers without end. */
class InterimError extends Error {
  readonly code = 'EINTERIM';

  constructor() {
    super('too many interim answers');
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
 * Takes `100 Continue`, which some servers send unasked, out of what a connection reads. A client
 * can simply discard it (RFC 9110, section 15.2.1); undici drops the connection, and with it the
 * answer that follows. Other interim answers pass, and so does everything behind the final head. Of
 * either kind there may be a few; more end the connection.
 */
export function discardUnaskedContinue(socket: Socket): void {
  const read = socket.read.bind(socket) as (size?: number) => Buffer | null;
  let held: Buffer = Buffer.alloc(0);
  socket.read = (size?: number): Buffer | null => {
    const expected = expecting.get(socket);
    if (!expected) return read(size);
    for (;;) {
      const start = held.subarray(0, INTERIM.length);
      const mayBeInterim = start.equals(INTERIM.subarray(0, start.length));
      const end = held.length < INTERIM.length ? -1 : held.indexOf(HEAD_END);
      if (!mayBeInterim || held.length > MAX_HEAD_BYTES) {
        expecting.delete(socket);
        return release(held.length);
      }
      if (end >= 0) {
        const head = release(end + HEAD_END.length);
        expected.interim += 1;
        expected.bytes += head.length;
        if (expected.interim > MAX_INTERIM || expected.bytes > MAX_INTERIM_BYTES) {
          socket.destroy(new InterimError());
          return null;
        }
        if (!head.subarray(0, CONTINUE.length).equals(CONTINUE)) return head;
        continue;
      }
      const more = read(size);
      if (!more) return null;
      silent.delete(socket);
      held = held.length === 0 ? more : Buffer.concat([held, more]);
    }
  };

  function release(length: number): Buffer {
    const released = held.subarray(0, length);
    held = held.subarray(length);
    return released;
  }
}
