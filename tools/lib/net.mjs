import { randomInt } from 'node:crypto';
import http from 'node:http';
import net from 'node:net';
import { codeOf } from './processes.mjs';

/**
 * Whether a server could listen there.
 * @param {number} port @param {string} host
 * @returns {Promise<string | undefined>} else the reason's code
 */
export function whyNotListen(port, host) {
  return new Promise((resolve) => {
    const server = net.createServer();
    server.once('error', (error) => resolve(codeOf(error)));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

/** @type {Set<number>} */
const given = new Set();

/**
 * A free port of the loopback interface, different at each call, because the previous ones may not be in use yet. It is
 * below 32768, where Linux's ports of outgoing connections begin: such a connection could take it before its server
 * starts.
 */
export async function freePort() {
  for (let i = 0; i < 200; i += 1) {
    const port = randomInt(20_000, 32_000);
    if (given.has(port)) continue;
    given.add(port);
    if ((await whyNotListen(port, '127.0.0.1')) === undefined) return port;
  }
  throw new Error('no free port between 20000 and 32000');
}

/**
 * Whether a GET is answered with 200.
 * @param {string} url
 * @returns {Promise<boolean>}
 */
export function answersOk(url) {
  return new Promise((resolve) => {
    const request = http.get(url, { agent: false, timeout: 5_000 }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(false));
  });
}

/**
 * Whether a Redis answers there.
 * @param {number} port
 * @returns {Promise<boolean>}
 */
export function answersPing(port) {
  return new Promise((resolve) => {
    const socket = net.connect({ port, host: '127.0.0.1', timeout: 2_000 }, () =>
      socket.write('PING\r\n'),
    );
    socket.on('data', (data) => {
      resolve(data.toString().startsWith('+PONG'));
      socket.destroy();
    });
    socket.on('timeout', () => socket.destroy());
    socket.on('error', () => resolve(false));
    socket.on('close', () => resolve(false));
  });
}
