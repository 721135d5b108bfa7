import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

/** A target that answers with raw bytes. */
export interface RawTarget {
  url: string;
  /** How it handles each request. */
  answering: (socket: Socket) => void;
  /** Answers each request with these bytes, and leaves the connection open. */
  answer: (bytes: string | Buffer) => void;
  /** The requests, and how many connections there were. */
  requests: string[];
  connections: number;
  close: () => void;
}

export async function startRawTarget(): Promise<RawTarget> {
  const server = createServer((socket) => {
    target.connections += 1;
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      target.requests.push(chunk.toString('latin1'));
      target.answering(socket);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const target: RawTarget = {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`,
    answering: () => undefined,
    answer: (bytes) => {
      const raw = Buffer.from(bytes as string, 'latin1');
      target.answering = (socket) => socket.write(raw);
    },
    requests: [],
    connections: 0,
    close: () => server.close(),
  };
  return target;
}
