/**
 * The customers' web applications in a separate process that only counts and answers. It uses plain sockets, because an
 * HTTP server would cost as much as the measured product. `receiver.main.js <port> <control port>`. The first segment
 * of a path selects the answer: `now`, `after-<ms>`, `never`, or `second`: 500 to the first attempt at each
 * notification.
 */
import { createServer as createHttpServer } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { now } from './clock.js';
import { distributionOf } from './distribution.js';
import type { Received } from './receiver.js';

const HEADERS_END = Buffer.from('\r\n\r\n');
const SENT = Buffer.from('"sent":');
const DIGITS = 20;
const OK = Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
const FAILED = Buffer.from('HTTP/1.1 500 Failed\r\nContent-Length: 0\r\n\r\n');
/** Records the time of every so many arrivals. */
const MARK_EVERY = 100;

let confirmed = 0;
/** Calls waiting for their answer, and their peak since the last reset. */
let underWay = 0;
let mostAtOnce = 0;
let firstAt = 0;
let lastAt = 0;
let marks: number[] = [];
let latencies: number[] = [];
const failedOnce = new Set<string>();

createServer(serve).listen(Number(process.argv[2]), '127.0.0.1', 1_024);
createHttpServer((request, response) => {
  if (request.method === 'POST') reset();
  response.end(JSON.stringify(received(request.url === '/latencies')));
}).listen(Number(process.argv[3]), '127.0.0.1');

function reset(): void {
  [confirmed, firstAt, lastAt, marks, latencies] = [0, 0, 0, [], []];
  mostAtOnce = underWay;
  failedOnce.clear();
}

function received(withLatencies: boolean): Received {
  return {
    ...{ confirmed, firstAt, lastAt, marks, markEvery: MARK_EVERY, mostAtOnce },
    ...(withLatencies && { latencyUs: distributionOf(latencies) }),
  };
}

function serve(socket: Socket): void {
  let waiting: Buffer = Buffer.alloc(0);
  socket.setNoDelay(true);
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk) => {
    const at = now();
    waiting = waiting.length === 0 ? chunk : Buffer.concat([waiting, chunk]);
    for (;;) {
      const headEnd = waiting.indexOf(HEADERS_END);
      if (headEnd < 0) return;
      const head = waiting.toString('latin1', 0, headEnd);
      const length = Number(/\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
      const end = headEnd + HEADERS_END.length + length;
      if (waiting.length < end) return;
      const body = waiting.subarray(headEnd + HEADERS_END.length, end);
      waiting = waiting.subarray(end);
      take(socket, head, body, at);
    }
  });
}

function take(socket: Socket, head: string, body: Buffer, at: number): void {
  const way = head.slice(head.indexOf('/') + 1, head.indexOf('/', head.indexOf('/') + 1));
  if (way === 'never') return;
  if (way === 'second' && isFirst(head)) {
    socket.write(FAILED);
    return;
  }
  const delayMs = way.startsWith('after-') ? Number(way.slice('after-'.length)) : 0;
  if (delayMs === 0) {
    confirm(socket, body, at);
    return;
  }
  underWay += 1;
  mostAtOnce = Math.max(mostAtOnce, underWay);
  setTimeout(() => {
    underWay -= 1;
    confirm(socket, body, at);
  }, delayMs);
}

function isFirst(head: string): boolean {
  const id = /\nwebhook-id: *(\S+)/i.exec(head)?.[1] ?? '';
  if (failedOnce.delete(id)) return false;
  failedOnce.add(id);
  return true;
}

function confirm(socket: Socket, body: Buffer, at: number): void {
  socket.write(OK);
  confirmed += 1;
  if (confirmed === 1) firstAt = at;
  if (confirmed % MARK_EVERY === 0) marks.push(at);
  lastAt = at;
  const sentAt = body.indexOf(SENT);
  if (sentAt < 0) return;
  const from = sentAt + SENT.length;
  latencies.push(at - parseInt(body.toString('latin1', from, from + DIGITS), 10));
}
