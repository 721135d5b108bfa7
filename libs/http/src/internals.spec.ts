import { once } from 'node:events';
import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http';
import { type AddressInfo, connect, Socket } from 'node:net';
import { finished } from 'node:stream/promises';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { Express } from 'express';
import { afterEach, expect, it, vi } from 'vitest';
import { ignoreFurtherRequests } from './connection-close.js';

/** What this library uses of Node and Express without a promise of theirs: docs/internals.md. */
interface Internals {
  parser: { onIncoming: (...args: unknown[]) => number };
}

const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

let server: Server;
let client: Socket;

afterEach(() => {
  client.destroy();
  server.close();
});

/** Sends bytes to a new server, and waits for the first request. */
async function received(bytes: string) {
  server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  client = connect((server.address() as AddressInfo).port);
  client.write(bytes);
  const [request, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
  return { request, response, socket: request.socket as Socket & Internals };
}

it('Node: a parser calls onIncoming for each request, and 2 makes it skip the rest of a read', async () => {
  const { request, socket } = await received(GET);
  const requests = vi.fn();
  server.on('request', requests);
  ignoreFurtherRequests(socket);
  const onIncoming = vi.spyOn(socket.parser, 'onIncoming');
  const expected = request.socket.bytesRead + 3 * GET.length;
  client.write(GET.repeat(3));
  await vi.waitFor(() => expect(socket.bytesRead).toBe(expected));
  expect(onIncoming).toHaveBeenCalledOnce();
  expect(requests).not.toHaveBeenCalled();
});

it('Node: the last response of a connection calls destroySoon of the socket', async () => {
  const { response, socket } = await received(GET);
  const destroySoon = vi.spyOn(socket, 'destroySoon');
  response.setHeader('Connection', 'close').end();
  await once(response, 'close');
  expect(destroySoon).toHaveBeenCalledOnce();
});

it('Node: destroyed and _closed make a response closed for streams', async () => {
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  Object.assign(response, { destroyed: true, _closed: true });
  expect(response.closed).toBe(true);
  await expect(finished(response)).rejects.toThrow('Premature close');
});

it('Express: a router has a stack of layers that match paths, and caseSensitive applies to later ones', () => {
  const app = new ExpressAdapter().getInstance<Express>();
  const router = app.router as unknown as {
    caseSensitive: boolean;
    stack: { route?: { path: string; methods: object }; match: (path: string) => unknown }[];
  };
  router.caseSensitive = true;
  app.get('/things/:id', vi.fn());
  const layer = router.stack.find(({ route }) => route);
  expect(layer?.route).toMatchObject({ path: '/things/:id', methods: { get: true } });
  expect(layer?.match('/things/7')).toBeTruthy();
  expect(layer?.match('/Things/7')).toBeFalsy();
});
