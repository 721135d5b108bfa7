import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { Request } from 'express';
import { expect, it } from 'vitest';
import { readConfig } from '#libs/runtime';
import { readJsonBytes } from './read-body.js';

const config = readConfig({ DATABASE_URL: 'postgres://unused' });

/**
 * Lets a client send the head of a request and reset its connection.
 * @param readWhen whether the body is read before or after the reset
 * @returns the result of reading the body
 */
async function readAfterReset(type: string, readWhen: 'before' | 'after'): Promise<unknown> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => undefined);
  client.write(
    `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${type}\r\nTransfer-Encoding: chunked\r\n\r\n`,
  );
  const [incoming] = (await once(server, 'request')) as [IncomingMessage];
  const request = Object.assign(incoming, { config }) as Request;
  const read = () => readJsonBytes(request, 'MAX_BODY_BYTES').catch((error: unknown) => error);
  const closed = new Promise((resolve) => request.socket.once('close', resolve));
  const reading = readWhen === 'before' ? read() : undefined;
  client.resetAndDestroy();
  await closed;
  const result = await (reading ?? read());
  server.close();
  return result;
}

it.each([
  ['text/plain', 'before', 'unsupported_media_type'],
  ['text/plain', 'after', 'unsupported_media_type'],
  ['application/json', 'before', 'malformed_json'],
  ['application/json', 'after', 'malformed_json'],
] as const)(
  'fails a read of %s started %s the client has disconnected',
  async (type, when, code) => {
    expect(await readAfterReset(type, when)).toMatchObject({ code });
  },
);
