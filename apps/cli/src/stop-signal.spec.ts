import { afterEach, expect, it, vi } from 'vitest';
import { stopSignal } from './stop-signal.js';

afterEach(() => vi.useRealTimers());

it('treats signals within one second as one, and lets Node end the process on a later one', () => {
  vi.useFakeTimers();
  const before = process.listenerCount('SIGINT');
  const stopped = stopSignal();
  process.emit('SIGINT');
  expect(stopped.aborted).toBe(true);
  vi.advanceTimersByTime(999);
  process.emit('SIGINT');
  expect(process.listenerCount('SIGINT')).toBe(before + 1);
  vi.advanceTimersByTime(1);
  expect(process.listenerCount('SIGINT')).toBe(before);
});
