import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { certificate } from '../support/certificate.js';
import { aTargetClient, type TestTargetClient } from '../support/target-client.js';

let client: TestTargetClient;
let server: Server | undefined;

beforeEach(() => {
  client = aTargetClient({ DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8' });
});
afterEach(async () => {
  await client.close();
  server?.close();
});

async function listen(target: Server): Promise<string> {
  server = target.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

const answering = (bytes: string | Buffer) => (socket: Socket) => {
  socket.on('error', () => undefined);
  socket.once('data', () => socket.write(bytes));
};

const UPGRADE = 'Connection: Upgrade\r\nUpgrade: websocket\r\n';

describe('an attempt fails as protocol when the target', () => {
  it.each<[what: string, answer: string | Buffer]>([
    ['switches protocols', `HTTP/1.1 101 Switching Protocols\r\n${UPGRADE}\r\n`],
    ['switches to no protocol', 'HTTP/1.1 101 Switching Protocols\r\n\r\n'],
    [
      'switches protocols after an interim answer',
      `HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 101 Switching Protocols\r\n${UPGRADE}\r\n`,
    ],
    ['answers with the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['answers with a frame of HTTP/2', Buffer.from('000000040000000000', 'hex')],
    ['answers with an alert of TLS', Buffer.from('15030100020246', 'hex')],
    ['answers with a status below 100', 'HTTP/1.1 099 Odd\r\n\r\n'],
  ])('%s', async (_, answer) => {
    const target = await listen(createServer(answering(answer)));
    expect(await client.post(`http://${target}`)).toMatchObject({ error: 'protocol' });
  });

  it('greets first, as in other protocols', async () => {
    const target = await listen(
      createServer((socket) => {
        socket.on('error', () => undefined).write('220 mail.example ESMTP\r\n');
      }),
    );
    expect(await client.post(`http://${target}`)).toMatchObject({ error: 'protocol' });
  });
});

it.each([200, 426])('takes a %d that offers another protocol', async (status) => {
  const answer = `HTTP/1.1 ${status} x\r\n${UPGRADE}Content-Length: 2\r\n\r\nok`;
  const target = await listen(createServer(answering(answer)));
  expect(await client.post(`http://${target}`)).toMatchObject({ status, responseBody: 'ok' });
});

describe('an attempt fails', () => {
  it('as tls at an https URL when the target does not speak TLS', async () => {
    const target = await listen(createServer(answering('HTTP/1.1 400 Bad Request\r\n\r\n')));
    expect(await client.post(`https://${target}`)).toMatchObject({ error: 'tls' });
  });

  it('as reset at an http URL when the target speaks TLS and closes', async () => {
    const target = await listen(createTlsServer(certificate).on('tlsClientError', () => undefined));
    expect(await client.post(`http://${target}`)).toMatchObject({ error: 'reset' });
  });
});
