import { once } from 'node:events';
import { Agent, createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, expect, it, vi } from 'vitest';
import { closeOrderly, ignoreFurtherRequests } from './connection-close.js';

afterEach(() => {
  vi.useRealTimers();
});

it('disconnects a client that keeps sending ignored requests for more than a minute', () => {
  vi.useFakeTimers();
  const parser = { incoming: null, onIncoming: (_request: { upgrade: boolean }) => 0 };
  const destroy = vi.fn();
  ignoreFurtherRequests({ parser, destroy } as unknown as Socket);
  for (let second = 0; second <= 60; second += 1) {
    expect(parser.onIncoming({ upgrade: false })).toBe(2);
    vi.advanceTimersByTime(1_000);
  }
  expect(destroy).not.toHaveBeenCalled();
  parser.onIncoming({ upgrade: false });
  expect(destroy).toHaveBeenCalledOnce();
});

it('answers one more request on each idle connection after it has stopped listening', async () => {
  const server = createServer((_request, response) => response.end());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const keeping = new Agent({ keepAlive: true });
  const fetched = async (agent: Agent | false = keeping) => {
    const [answer] = (await once(get({ port, agent }), 'response')) as [IncomingMessage];
    await once(answer.resume(), 'end');
    return answer.headers.connection;
  };
  expect(await fetched()).toBe('keep-alive');
  const start = Date.now();
  const closed = closeOrderly(server, 10_000);
  await expect(fetched(false)).rejects.toThrow('ECONNREFUSED');
  expect(await fetched()).toBe('close');
  await closed;
  expect(Date.now() - start).toBeLessThan(5_000);
});
