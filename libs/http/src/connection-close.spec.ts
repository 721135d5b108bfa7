import type { Socket } from 'node:net';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ignoreFurtherRequests } from './connection-close.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it('disconnects a client that keeps sending ignored requests for more than a minute', () => {
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
