import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Answer } from './http.js';

/** A connection that reads and writes bytes, to send what no client would send. */
export interface RawConnection {
  write: (text: string | Uint8Array) => void;
  /** Resolves with everything received so far once it matches. */
  until: (pattern: RegExp, withinMs?: number) => Promise<string>;
  received: () => string;
  /** Reads nothing more until {@link resume}. */
  pause: () => void;
  resume: () => void;
  /** Resolves when the server has ended the connection. */
  ended: Promise<unknown>;
  destroy: () => void;
}

export async function connectTo(url: string): Promise<RawConnection> {
  const { hostname, port } = new URL(url);
  const socket: Socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  let received = '';
  socket.setEncoding('utf8').on('data', (text: string) => {
    received += text;
  });
  socket.on('error', () => undefined);
  return {
    write: (text) => socket.write(text),
    until: async (pattern, withinMs = 5_000) => {
      for (const deadline = Date.now() + withinMs; Date.now() < deadline;) {
        if (pattern.test(received)) return received;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      throw new Error(`${String(pattern)} did not come; received: ${received}`);
    },
    received: () => received,
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    ended: once(socket, 'close'),
    destroy: () => socket.destroy(),
  };
}

/** Sends bytes on a new connection, and reads the last answer until the server closes. */
export async function exchange(url: string, bytes: string | Uint8Array): Promise<Answer> {
  const connection = await connectTo(url);
  connection.write(bytes);
  const timer = setTimeout(() => {
    connection.destroy();
  }, 10_000);
  await connection.ended;
  clearTimeout(timer);
  const answers = answersIn(connection.received());
  const last = answers.at(-1);
  if (!last) throw new Error(`no answer, but: ${connection.received()}`);
  return last;
}

/** The answers that a connection has received, none of them chunked. */
export function answersIn(received: string): Answer[] {
  const answers: Answer[] = [];
  let rest = Buffer.from(received);
  while (rest.length > 0) {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) throw new Error(`no whole answer: ${rest.toString()}`);
    const [statusLine = '', ...lines] = rest.toString('utf8', 0, end).split('\r\n');
    const headers = Object.fromEntries(
      lines.map((line) => [
        line.slice(0, line.indexOf(':')).toLowerCase(),
        line.slice(line.indexOf(':') + 1).trim(),
      ]),
    );
    // HTTP/1.0 may end the body with the connection.
    const length = headers['content-length'] ?? rest.length;
    const bodyEnd = end + 4 + Number(length);
    const text = rest.toString('utf8', end + 4, bodyEnd);
    answers.push({
      status: Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]),
      headers,
      text,
      // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the caller knows it
      json: <Body>() => JSON.parse(text) as Body,
    });
    rest = rest.subarray(bodyEnd);
  }
  return answers;
}
