import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { IdleConnections, leaveIdle } from './idle-connections.js';

const MOST = 20;

let idle: IdleConnections;

beforeEach(() => {
  vi.useFakeTimers();
  idle = new IdleConnections(MOST);
});
afterEach(() => {
  vi.useRealTimers();
});

class FakeSocket extends EventEmitter {
  destroyed = false;

  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

/** Connections of an account whose calls ended one after the other. */
function connectionsOf(accountId: string, count: number): Socket[] {
  return Array.from({ length: count }, () => {
    const socket = new FakeSocket() as unknown as Socket;
    use(socket, accountId);
    return socket;
  });
}

function use(socket: Socket, accountId: string): void {
  vi.advanceTimersByTime(1);
  idle.add(socket, accountId);
}

const open = (sockets: readonly Socket[]) => sockets.filter(({ destroyed }) => !destroyed).length;

it('keeps as many connections open as it may, and then closes those that were idle for longest', () => {
  const sockets = connectionsOf('1', MOST);
  expect(open(sockets)).toBe(MOST);
  use(sockets[0]!, '1');
  sockets.push(...connectionsOf('1', 1));
  expect(sockets.map(({ destroyed }, at) => (destroyed ? at : undefined)).filter(Boolean)).toEqual([
    1, 2,
  ]);
});

it('closes no connection of an account while another has more', () => {
  const few = connectionsOf('1', 5);
  const many = connectionsOf('2', 40);
  expect([open(few), open(many)]).toEqual([5, expect.any(Number)]);
  expect(open(many)).toBeLessThanOrEqual(15);
  const others = connectionsOf('3', 5);
  expect([open(few), open(others)]).toEqual([5, 5]);
});

it('closes no connection that is in use', () => {
  const used = connectionsOf('1', 10);
  for (const socket of used) leaveIdle(socket);
  connectionsOf('2', 11);
  expect(open(used)).toBe(10);
});

it('counts no connection that was closed', () => {
  for (const socket of connectionsOf('1', 15)) socket.destroy();
  const sockets = connectionsOf('1', MOST);
  expect(open(sockets)).toBe(MOST);
});
