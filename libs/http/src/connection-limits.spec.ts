import { once } from 'node:events';
import { createServer, IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { closeLingering } from './connection-close.js';
import { limitPipeline } from './connection-limits.js';

let parsed = 0;
class CountedRequest extends IncomingMessage {
  constructor(socket: Socket) {
    super(socket);
    parsed += 1;
  }
}
const server = createServer({ IncomingMessage: CountedRequest }, (request, response) => {
  limitPipeline(request.socket, response);
  setImmediate(() => response.end());
});
const faults: Error[] = [];
server.on('clientError', (error: Error) => faults.push(error));
closeLingering(server);

beforeAll(() => once(server.listen(0, '127.0.0.1'), 'listening'));
afterAll(() => server.close());

const short = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
const long = `GET /${'x'.repeat(400)} HTTP/1.1\r\nHost: x\r\n\r\n`;
const tunnel = 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n';

it.each([
  ['short ones', short.repeat(1_000)],
  ['long ones', long.repeat(1_000)],
  ['a tunnel behind them', short.repeat(10) + tunnel],
])('stops parsing a connection after ten unanswered requests: %s', async (_what, bytes) => {
  parsed = 0;
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.write(bytes);
  const answers = await text(client);
  expect(answers.match(/^HTTP\/1\.1 200 /gm)).toHaveLength(10);
  // Plus one for each read of the socket.
  expect(parsed).toBeLessThan(34);
  expect(faults).toEqual([]);
});
