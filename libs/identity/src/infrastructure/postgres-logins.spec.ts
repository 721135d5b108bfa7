import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { UnavailableError } from '#libs/kernel';
import { BackgroundTasks, type Database, type Log, Metrics } from '#libs/runtime';
import { PostgresCredentialUses } from './postgres-logins.js';

const run = vi.fn((_statement: object, _values: { ids: string[] }) => Promise.resolve([]));
const log = { info: vi.fn(), warn: vi.fn(), error: vi.fn() };
let tasks: BackgroundTasks;
let uses: PostgresCredentialUses;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
  vi.clearAllMocks();
  tasks = new BackgroundTasks(log as unknown as Log, new Metrics());
  uses = new PostgresCredentialUses(tasks, { run } as unknown as Database);
  await tasks.onApplicationBootstrap();
});
afterEach(async () => {
  await tasks.beforeApplicationShutdown();
  vi.useRealTimers();
});

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
/** The ids that each statement wrote. */
const written = () => run.mock.calls.map(([, { ids }]) => ids);

it('writes all uses of a second in one statement', async () => {
  for (const id of ['1', '2', '1']) uses.note(id);
  await pass(990);
  expect(written()).toEqual([]);
  await pass(20);
  expect(written()).toEqual([['1', '2']]);
});

it('writes a credential in constant use once a minute', async () => {
  for (let second = 0; second < 150; second += 1) {
    uses.note('1');
    await pass(1_000);
  }
  expect(written()).toEqual([['1'], ['1'], ['1']]);
});

it('keeps uses that could not be written, and retries after a second', async () => {
  run.mockRejectedValueOnce(new UnavailableError());
  uses.note('1');
  await pass(1_100);
  uses.note('2');
  expect(written()).toEqual([['1']]);
  await pass(1_000);
  expect(written()).toEqual([['1'], ['1', '2']]);
  await pass(100_000);
  expect(run).toHaveBeenCalledTimes(2);
});

it('logs why uses were not written', async () => {
  const err = new Error('permission denied');
  run.mockRejectedValueOnce(err);
  uses.note('1');
  await pass(1_100);
  const fields = { err, task: 'credential-uses', failures: 1 };
  expect(log.error).toHaveBeenCalledWith(fields, 'background task failed');
});

it('writes nothing after the process has stopped', async () => {
  uses.note('1');
  await tasks.beforeApplicationShutdown();
  await pass(100_000);
  expect(run).not.toHaveBeenCalled();
});
