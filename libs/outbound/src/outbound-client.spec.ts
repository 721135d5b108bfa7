import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { expect, it } from 'vitest';
import { readConfig, Tracing } from '#libs/runtime';
import type { Connection, Dialer } from './dialer.js';
import { OutboundClient } from './outbound-client.js';

/** A connection that answers at the first byte, and sends no more of a request while it is stalled. */
function aConnection({ stalled }: { stalled: boolean }): Duplex {
  let requests = 0;
  return new Duplex({
    read: () => undefined,
    write(_chunk, _encoding, done) {
      // The head and the body of a request are written one after the other.
      if (requests % 2 === 0) this.push('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
      requests += 1;
      if (!stalled) done();
    },
  });
}

it.each([
  ['is not used again while a request on it is not sent whole', true, 2],
  ['is used again when its request was sent', false, 1],
])('a connection %s', async (_, stalled, connections) => {
  const opened: Duplex[] = [];
  const dialer: Pick<Dialer, 'dial'> = {
    dial: () => {
      const socket = aConnection({ stalled });
      opened.push(socket);
      const times = { connect: 0 };
      return Promise.resolve<Connection>({ socket: socket as Socket, address: '192.0.2.1', times });
    },
  };
  const config = readConfig({ DATABASE_URL: 'postgres://unused' });
  const client = new OutboundClient(dialer as Dialer, new Tracing(), config);
  const request = { accountId: '1', url: 'http://192.0.2.1/', headers: {}, body: '{}' };
  const post = () => client.post({ ...request, timeoutMs: 5_000 });
  expect(await post()).toMatchObject({ status: 200 });
  await new Promise((resolve) => setImmediate(resolve));
  expect(await post()).toMatchObject({ status: 200 });
  expect(opened).toHaveLength(connections);
  await client.onApplicationShutdown();
});
