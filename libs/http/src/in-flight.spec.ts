import { EventEmitter } from 'node:events';
import type { Request, Response } from 'express';
import { expect, it, vi } from 'vitest';
import { RateLimitedError } from '#libs/kernel';
import { readConfig } from '#libs/runtime';
import { InFlight } from './in-flight.js';

const MB = 1 << 20;

class FakeResponse extends EventEmitter {
  /** Bytes that the client has not read. */
  writableLength = 0;
  destroyed = false;
}

function begin(inFlight: InFlight, account: string) {
  const request = {} as Request;
  const response = new FakeResponse();
  inFlight.begin(account, request, response as unknown as Response);
  const end = () => Object.assign(response, { destroyed: true }).emit('close');
  return { request, response, end };
}

const started = (pool = 10) =>
  new InFlight(readConfig({ DATABASE_URL: 'postgres://unused', DATABASE_POOL_SIZE: String(pool) }));

it('allows an account two hundred concurrent requests, whatever other accounts do', () => {
  const inFlight = started();
  const all = Array.from({ length: 200 }, () => begin(inFlight, '1'));
  expect(() => begin(inFlight, '1')).toThrow(RateLimitedError);
  begin(inFlight, '2');
  all[0]!.end();
  begin(inFlight, '1');
});

it('refuses requests while an account has 16 MB of unread answers', () => {
  const inFlight = started();
  const [one, other] = [begin(inFlight, '1'), begin(inFlight, '1')];
  one.response.writableLength = 10 * MB;
  other.response.writableLength = 7 * MB;
  expect(() => begin(inFlight, '1')).toThrow(RateLimitedError);
  begin(inFlight, '2');
  one.response.writableLength = 0;
  begin(inFlight, '1');
});

it('refuses a body that takes its account beyond 16 MB', () => {
  const inFlight = started();
  const [one, other] = [begin(inFlight, '1'), begin(inFlight, '1')];
  one.request.inFlight!.hold(12 * MB);
  expect(() => other.request.inFlight!.hold(5 * MB)).toThrow(RateLimitedError);
  other.request.inFlight!.hold(0);
  begin(inFlight, '1');
  one.end();
  other.request.inFlight!.hold(5 * MB);
});

it('runs one list query of an account at a time, and all of them on half of the connections', async () => {
  const inFlight = started(6);
  const began: string[] = [];
  const ends: (() => void)[] = [];
  const read = (account: string) =>
    begin(inFlight, account).request.inFlight!.read(async () => {
      began.push(account);
      await new Promise<void>((resolve) => ends.push(resolve));
    });
  const all = ['1', '1', '1', '2', '3', '4'].map(read);
  expect(began).toEqual(['1', '2', '3']);
  for (const end of ends.slice(0, 2)) end();
  await Promise.all([all[0], all[3]]);
  // Accounts alternate.
  expect(began.slice(3)).toEqual(['1', '4']);
  for (let at = 2; at < all.length; at += 1) {
    await vi.waitFor(() => expect(ends.length).toBeGreaterThan(at));
    ends[at]!();
  }
  await Promise.all(all);
  expect(began.sort()).toEqual(['1', '1', '1', '2', '3', '4']);
});

it('counts nothing for a client that disconnected before its account was known', async () => {
  const inFlight = started();
  const gone = Object.assign(new FakeResponse(), { destroyed: true });
  const request = {} as Request;
  for (let n = 0; n < 300; n += 1) inFlight.begin('1', request, gone as unknown as Response);
  await expect(request.inFlight!.read(vi.fn())).rejects.toThrow('The client has left.');
});

it('lets go of a queued query at once when its client disconnects', async () => {
  const inFlight = started(2);
  let end = (): void => undefined;
  const first = begin(inFlight, '1').request.inFlight!.read(
    () => new Promise<void>((resolve) => (end = resolve)),
  );
  const left = begin(inFlight, '1');
  const query = vi.fn(() => Promise.resolve());
  const queued = left.request.inFlight!.read(query);
  left.end();
  await expect(queued).rejects.toThrow('The client has left.');
  end();
  await first;
  expect(query).not.toHaveBeenCalled();
  expect(left.response.listenerCount('close')).toBe(0);
});

it('runs no query for a client that has disconnected', async () => {
  const left = begin(started(), '1');
  left.end();
  const read = vi.fn(() => Promise.resolve());
  await expect(left.request.inFlight!.read(read)).rejects.toThrow('The client has left.');
  expect(read).not.toHaveBeenCalled();
});
