import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { UnavailableError } from '#libs/kernel';
import { FailureLog } from './failure-log.js';
import type { Log } from './log.js';

const lines: object[] = [];
let failures: FailureLog;

beforeEach(() => {
  vi.useFakeTimers();
  lines.length = 0;
  const error = (fields: object) => void lines.push(fields);
  failures = new FailureLog({ error } as unknown as Log);
});
afterEach(() => {
  vi.useRealTimers();
});

const fullDisk = (file: number) =>
  Object.assign(new Error(`could not extend file "base/${file}"`), { code: '53100' });
const fail = (error: unknown, requestId: number, message = 'request failed') =>
  failures.failed(error, { requestId }, message);

it('logs the first of equal failures at once, and the others once a second with their count', () => {
  for (let requestId = 0; requestId < 1_000; requestId += 1) fail(fullDisk(requestId), requestId);
  expect(lines).toEqual([{ requestId: 0 }]);
  vi.advanceTimersByTime(1_000);
  expect(lines.splice(0)).toEqual([{ requestId: 0 }, { requestId: 999, count: 999 }]);
  fail(fullDisk(1), 1_000);
  vi.advanceTimersByTime(999);
  expect(lines).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(lines).toEqual([{ requestId: 1_000, count: 1 }]);
});

it('logs the first failure after a quiet second at once', () => {
  fail(fullDisk(1), 1);
  vi.advanceTimersByTime(1_000);
  fail(fullDisk(1), 2);
  expect(lines).toEqual([{ requestId: 1 }, { requestId: 2 }]);
  vi.advanceTimersByTime(1_000);
  expect([lines.length, vi.getTimerCount()]).toEqual([2, 0]);
});

it('logs failures of different work separately', () => {
  fail(fullDisk(1), 1);
  fail(fullDisk(1), 2, 'attempt was interrupted');
  expect(lines).toEqual([{ requestId: 1 }, { requestId: 2 }]);
});

it('logs different failures separately, also as a cause', () => {
  fail(fullDisk(1), 1);
  fail(new UnavailableError(fullDisk(2)), 2);
  fail(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }), 3);
  fail(new UnavailableError(new Error('connection terminated')), 4);
  fail(new UnavailableError(new Error('timeout exceeded')), 5);
  expect(lines).toEqual([{ requestId: 1 }, { requestId: 3 }, { requestId: 4 }, { requestId: 5 }]);
});
