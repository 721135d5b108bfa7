import { afterEach, expect, it, vi } from 'vitest';
import { stopSignal } from './stop-signal.js';

afterEach(() => vi.useRealTimers());

it('takes signals within a second for one, and leaves later ones to Node, which ends the process', () => {
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
