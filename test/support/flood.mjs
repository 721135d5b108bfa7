// Floods the API from a separate process. Standard input says what to send. Ignores connection errors, and reopens
// closed connections.
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { json } from 'node:stream/consumers';

/** @type {{ port: number, sends: import('./flooding.js').Send[] }} */
const { port, sends } = /** @type {any} */ (await json(process.stdin));
const AGAIN_MS = 20;

/** @param {import('./flooding.js').Send} send */
function open(send) {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.on('close', () => setTimeout(() => open(send), AGAIN_MS));
  if (send.reads) socket.resume();
  else socket.pause();
  // A different user each time.
  const login = () => Buffer.from(`${randomBytes(6).toString('hex')}:wrong`).toString('base64');
  const { leavesWithinMs } = send;
  socket.write(send.bytes.replaceAll('{login}', login), () => {
    if (leavesWithinMs === undefined) return;
    setTimeout(() => socket.destroy(), Math.random() * leavesWithinMs);
  });
}

for (const send of sends) for (let n = 0; n < send.connections; n += 1) open(send);
