// Runs harmful targets in a separate process, and prints their URL. The path of a request selects the behaviour.
import { createServer } from 'node:net';
import { gzipSync } from 'node:zlib';

const JUNK = 'x'.repeat(16_384);
/** A small body that decompresses into a large one. */
const BOMB = gzipSync(Buffer.alloc(1 << 20));

/** @param {import('node:net').Socket} socket @param {string} bytes sent as fast as the socket accepts them */
function endlessly(socket, bytes) {
  const write = () => {
    while (!socket.destroyed && socket.write(bytes));
  };
  socket.on('drain', write);
  write();
}

/** @type {Record<string, (socket: import('node:net').Socket) => void>} */
const WAYS = {
  interim: (socket) => endlessly(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n'),
  headers: (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    endlessly(socket, `X-Junk: ${JUNK.slice(0, 1_000)}\r\n`);
  },
  body: (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
    endlessly(socket, `4000\r\n${JUNK}\r\n`);
  },
  bomb: (socket) => {
    socket.write(
      `HTTP/1.1 500 No\r\nContent-Encoding: gzip\r\nContent-Length: ${BOMB.length}\r\n\r\n`,
    );
    socket.write(BOMB);
  },
  folds: (socket) =>
    socket.end(`HTTP/1.1 500 No\r\nX: a\r\n${` ${JUNK.slice(0, 240)}\r\n`.repeat(250)}\r\n`),
  garbage: (socket) => endlessly(socket, JUNK),
  drip: (socket) => {
    const timer = setInterval(() => socket.write('H'), 100);
    socket.on('close', () => clearInterval(timer));
  },
  reset: (socket) => socket.resetAndDestroy(),
  silence: () => undefined,
};

const server = createServer((socket) => {
  socket.on('error', () => undefined);
  socket.once('data', (chunk) => {
    const [, way = ''] = /^POST \/(\w+)/.exec(chunk.toString('latin1')) ?? [];
    WAYS[way]?.(socket);
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address && typeof address === 'object') console.log(`http://127.0.0.1:${address.port}`);
});
