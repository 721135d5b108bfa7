import { EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Request } from 'express';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  CONNECTION_BYTES,
  limitUnauthenticated,
  MAX_BYTES,
  MAX_BYTES_OF_ADDRESS,
  noteAnswered,
  noteBody,
  noteRefused,
  noteRequest,
  markUnauthenticated,
  REQUEST_BYTES,
  markAuthenticated,
} from './unauthenticated-connections.js';

const PROXY = '192.0.2.1';
const OF_ADDRESS = Math.floor(MAX_BYTES_OF_ADDRESS / CONNECTION_BYTES);
const OF_PROCESS = Math.floor(MAX_BYTES / CONNECTION_BYTES);

let server: EventEmitter;
let dropped: number;

beforeEach(() => {
  server = new EventEmitter();
  dropped = 0;
  const isProxy = (address: string) => address === PROXY;
  limitUnauthenticated(server as Server, isProxy, () => (dropped += 1));
});

class Connection extends EventEmitter {
  bytesRead = 0;
  destroyed = false;

  constructor(readonly remoteAddress: string) {
    super();
  }

  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }

  /** Sends a request. @param ip the client's address, if a proxy forwards the request */
  sends(bytes: number, ip = this.remoteAddress): { request: Request; answered: () => void } {
    this.bytesRead += bytes;
    const socket = this as unknown as Socket;
    noteRequest(socket);
    const request = { socket, ip, headers: {}, rawHeaders: [] } as unknown as Request;
    return { request, answered: () => noteAnswered(socket) };
  }
}

function connect(address: string): Connection {
  const connection = new Connection(address);
  server.emit('connection', connection);
  return connection;
}

const connectAll = (count: number, addressOf: (n: number) => string): Connection[] =>
  Array.from({ length: count }, (_, n) => connect(addressOf(n)));
const open = (all: readonly Connection[]): number => all.filter((one) => !one.destroyed).length;
const asBody = (connection: Connection) => noteBody(connection as unknown as Socket);

describe('connections without known credentials', () => {
  it('of one address are dropped beyond a limit, the one that was longest without a request first', () => {
    const [first, second, ...others] = connectAll(OF_ADDRESS, () => '198.51.100.7');
    first!.sends(100).answered();
    const newest = connect('198.51.100.7');
    expect(second!.destroyed).toBe(true);
    expect(open([first!, newest, ...others])).toBe(OF_ADDRESS);
    expect(dropped).toBe(1);
    expect(connect('198.51.100.8').destroyed).toBe(false);
    expect(dropped).toBe(1);
  });

  it('of one IPv6 network count together', () => {
    const all = connectAll(OF_ADDRESS + 5, (n) => `2001:db8:1:2::${n.toString(16)}`);
    expect(open(all)).toBe(OF_ADDRESS);
    expect(open(connectAll(5, (n) => `2001:db8:1:3::${n.toString(16)}`))).toBe(5);
  });

  it('of all addresses are dropped beyond a limit, of the address that holds most', () => {
    const quiet = connect('203.0.113.9');
    const flood = connectAll(2 * OF_PROCESS, (n) => `198.51.100.${n % 3}`);
    expect(open(flood)).toBe(OF_PROCESS - 1);
    expect(quiet.destroyed).toBe(false);
    expect(dropped).toBe(2 * OF_PROCESS - (OF_PROCESS - 1));
  });

  it('of a trusted proxy are limited by the process alone, until a request names a client', () => {
    const all = connectAll(OF_ADDRESS + 100, () => PROXY);
    expect(open(all)).toBe(OF_ADDRESS + 100);
    for (const one of all) markUnauthenticated(one.sends(100, '198.51.100.7').request);
    expect(open(all)).toBe(
      Math.floor(MAX_BYTES_OF_ADDRESS / (CONNECTION_BYTES + REQUEST_BYTES + 100)),
    );
  });

  it('are not dropped while they take far less than others', () => {
    const client = connect('198.51.100.7');
    client.sends(200);
    const flood = connectAll(OF_ADDRESS / 4, () => '198.51.100.7');
    for (const one of flood) one.sends(10 * CONNECTION_BYTES);
    expect(open(flood)).toBeLessThan(OF_ADDRESS / 10);
    expect(client.destroyed).toBe(false);
  });

  it('belong to the proxy again when the request is answered', () => {
    const all = connectAll(OF_ADDRESS + 100, () => PROXY);
    for (const one of all) {
      const { request, answered } = one.sends(100, '198.51.100.7');
      markUnauthenticated(request);
      answered();
    }
    expect(open(all)).toBe(OF_ADDRESS + 100);
  });

  it('count with their requests, bodies and heads until those are answered', () => {
    const [large, ...others] = connectAll(OF_ADDRESS - 100, () => '198.51.100.7');
    const requests = [large!.sends(16_000), large!.sends(16_000)];
    large!.bytesRead += 100 * CONNECTION_BYTES - 32_000 - 2 * REQUEST_BYTES;
    asBody(large!);
    expect(open(others)).toBe(OF_ADDRESS - 101);
    connect('198.51.100.7');
    expect(dropped).toBe(1);
    for (const { answered } of requests) answered();
    expect(open(connectAll(100, () => '198.51.100.7'))).toBe(100);
    expect(dropped).toBe(1);
  });
});

describe('a connection with known credentials', () => {
  it('does not count, and is not dropped', () => {
    const known = connect('198.51.100.7');
    markAuthenticated(known.sends(100).request);
    connectAll(2 * OF_ADDRESS, () => '198.51.100.7');
    expect(known.destroyed).toBe(false);
    asBody(known);
    known.sends(100).answered();
    expect(dropped).toBe(OF_ADDRESS);
  });

  it('counts again when a request on it has others', () => {
    const known = connect('198.51.100.7');
    markAuthenticated(known.sends(100).request);
    markUnauthenticated(known.sends(100).request);
    connectAll(OF_ADDRESS, () => '198.51.100.7');
    expect(known.destroyed).toBe(true);
  });

  it('does not count what it sent with them when a request on it has others', () => {
    const known = connect('198.51.100.7');
    for (let requests = 0; requests < 2; requests += 1) {
      const { request, answered } = known.sends(100);
      markAuthenticated(request);
      known.bytesRead += MAX_BYTES;
      answered();
    }
    markUnauthenticated(known.sends(100).request);
    expect(known.destroyed).toBe(false);
  });

  it('counts all that is sent with others, from the first byte', () => {
    const known = connect('198.51.100.7');
    const { request, answered } = known.sends(100);
    markAuthenticated(request);
    answered();
    markUnauthenticated(known.sends(MAX_BYTES_OF_ADDRESS).request);
    expect(known.destroyed).toBe(true);
  });
});

it('drops the head of a refused request before its answer is sent', () => {
  const { request } = connect('198.51.100.7').sends(100);
  request.headers.cookie = 'x';
  request.rawHeaders = ['Cookie', 'x'];
  noteRefused(request);
  expect(request).toMatchObject({ headers: {}, rawHeaders: [], url: '/', originalUrl: '/' });
});
