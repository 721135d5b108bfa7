import { describe, expect, it, vi } from 'vitest';
import type { Log } from '../logging/log.js';
import { isUndone, refusalOf } from './redis-refusals.js';
import { RefusalLog } from './refusal-log.js';

const answered = (message: string) => Object.assign(new Error(message), { name: 'ReplyError' });

const SCRIPT = 'script: 6f5a, on @user_script:12.';
const SCRIPT_OF_6 =
  'ERR Error running script (call to f_6f5a): @user_script:12: @user_script: 12: -';
const AT_CLUSTER = 'Too many Cluster redirections. Last error: ReplyError: ';

describe('an answer of Redis', () => {
  it.each([
    [`OOM command not allowed when used memory > 'maxmemory'. ${SCRIPT}`, 'Redis is full'],
    [`${SCRIPT_OF_6}OOM command not allowed when used memory > 'maxmemory'.`, 'Redis is full'],
    ['MOVED 5461 192.0.2.7:6379', 'Redis is a node of a cluster'],
    ['CLUSTERDOWN Hash slot not served', 'no node of the Redis Cluster has the slot'],
    [`${AT_CLUSTER}CLUSTERDOWN The cluster is down`, 'no node of the Redis Cluster has the slot'],
    [`${AT_CLUSTER}MOVED 5461 192.0.2.7:6379`, 'no node of the Redis Cluster has the slot'],
    ["READONLY You can't write against a read only replica.", 'Redis is a replica'],
    ['MISCONF Redis is configured to save RDB snapshots, but', 'it cannot save its data'],
    ["NOPERM User anna has no permissions to run the 'evalsha' command", 'the command evalsha'],
    ["NOPERM this user has no permissions to run the 'eval' command or its", 'the command eval'],
    ["ERR unknown command 'EVALSHA', with args beginning with: 'x'", 'the command evalsha'],
    ['ERR unknown command `evalsha`, with args beginning with: `x`', 'the command evalsha'],
    ['NOPERM No permissions to access a key', 'refuses what the queue needs'],
  ])('%s means: %s, and that nothing was done', (message, reason) => {
    const refusal = refusalOf(answered(message));
    expect(refusal?.message).toContain(reason);
    expect(refusal?.message).not.toMatch(/anna|192\.0\.2\.7/);
    expect(isUndone(answered(message))).toBe(true);
  });

  it.each([
    `NOPERM User anna has no permissions to run the 'lpush' command ${SCRIPT}`,
    `${SCRIPT_OF_6}NOPERM this user has no permissions to run the 'lpush' command`,
    `ERR unknown command 'lpush' called from ${SCRIPT}`,
  ])('%s leaves open what the script has done before', (message) => {
    expect(isUndone(answered(message))).toBe(false);
    expect(refusalOf(answered(message))?.message).toBe('Redis refuses the command lpush');
  });

  it('is found in the error of a transaction', () => {
    const cause = answered("NOPERM User anna has no permissions to run the 'llen' command");
    const aborted = answered('EXECABORT Transaction discarded because of previous errors.');
    const error = Object.assign(aborted, { previousErrors: [cause] });
    expect(refusalOf(error)).toMatchObject({ message: 'Redis refuses the command llen', cause });
  });

  it.each([
    ...['Connection is closed.', 'Command timed out'],
    'Too many Cluster redirections. Last error: Error: Connection is closed.',
  ])('is missing in: %s', (message) => {
    const error = new Error(message);
    expect(refusalOf(error)).toBeUndefined();
    expect(isUndone(error)).toBe(false);
    // As ioredis does for a transaction whose connection to a node of a cluster breaks.
    Object.assign(error, { previousErrors: [error] });
    expect(refusalOf(error)).toBeUndefined();
  });

  it('is missing if nothing was sent, so that nothing was done', () => {
    const error = new Error("Stream isn't writeable and enableOfflineQueue options is false");
    expect(refusalOf(error)).toBeUndefined();
    expect(isUndone(error)).toBe(true);
  });
});

it('a refusal is logged once until Redis executes the command again, and a lost connection is not', () => {
  const warn = vi.fn<Log['warn']>();
  const refusals = new RefusalLog('what a test does', { warn } as unknown as Log);
  const err = answered('CLUSTERDOWN Hash slot not served');
  const line = [{ use: 'what a test does', err }, 'Redis refuses a command'];
  for (let round = 1; round <= 2; round += 1) {
    refusals.failed(new Error('Connection is closed.'));
    for (let time = 0; time < 3; time += 1) refusals.failed(err);
    expect(warn.mock.calls.splice(0)).toEqual([line]);
    refusals.worked();
  }
});
