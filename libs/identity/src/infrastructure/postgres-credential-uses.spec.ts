import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type Database, type Log, UnavailableError } from '#libs/kernel';
import { PostgresCredentialUses } from './postgres-credential-uses.js';

const query = vi.fn((_statement: object, _values: [string[]]) => Promise.resolve([]));
const error = vi.fn();
let uses: PostgresCredentialUses;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
  query.mockClear();
  error.mockClear();
  uses = new PostgresCredentialUses({ query } as unknown as Database, { error } as unknown as Log);
});
afterEach(() => {
  vi.useRealTimers();
});

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
/** The ids that each statement wrote. */
const written = () => query.mock.calls.map(([, [ids]]) => ids);

it('writes uses in one statement a second later, not when they happen', async () => {
  for (const id of ['1', '2', '1']) uses.note(id);
  await pass(999);
  expect(written()).toEqual([]);
  await pass(1);
  expect(written()).toEqual([['1', '2']]);
});

it('writes a credential that is in use once a minute', async () => {
  for (let second = 0; second < 150; second += 1) {
    uses.note('1');
    await pass(1_000);
  }
  expect(written()).toEqual([['1'], ['1'], ['1']]);
});

it('keeps what could not be written, and tries again after ten seconds', async () => {
  query.mockRejectedValueOnce(new UnavailableError());
  uses.note('1');
  await pass(1_000);
  uses.note('2');
  await pass(9_999);
  expect(written()).toEqual([['1']]);
  await pass(1);
  expect(written()).toEqual([['1'], ['1', '2']]);
  await pass(100_000);
  expect(query).toHaveBeenCalledTimes(2);
  expect(error).not.toHaveBeenCalled();
});

it('says in the log why else a use was not written', async () => {
  const fault = new Error('permission denied');
  query.mockRejectedValueOnce(fault);
  uses.note('1');
  await pass(1_000);
  expect(error).toHaveBeenCalledWith({ err: fault }, 'uses of credentials were not written');
});

it('writes nothing after its end', async () => {
  uses.note('1');
  uses.onApplicationShutdown();
  await pass(100_000);
  expect(query).not.toHaveBeenCalled();
});
