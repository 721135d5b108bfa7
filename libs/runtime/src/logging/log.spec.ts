import { describe, expect, it } from 'vitest';
import { UnavailableError } from '#libs/kernel';
import { jsonLines } from './json-lines.js';

/** How an error is logged. */
function logged(err: unknown): unknown {
  let line = '';
  jsonLines('test', 'info', { write: (text) => (line = text) }).error({ err }, 'failed');
  return (JSON.parse(line) as { err: unknown }).err;
}

describe('the log', () => {
  it('has no stack of an error that says that a store is away', () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    const cause = { type: 'Error', message: 'connect ECONNREFUSED', code: 'ECONNREFUSED' };
    expect(logged(refused)).toEqual(cause);
    expect(logged(new UnavailableError(refused))).toEqual({
      type: 'UnavailableError',
      message: 'The service cannot reach its database now.',
      code: 'unavailable',
      cause,
    });
    expect(logged(new Error('Connection terminated unexpectedly'))).not.toHaveProperty('stack');
  });

  it('names each address of a host that refuses connections', () => {
    const errors = ['::1', '127.0.0.1'].map((host) => new Error(`connect ECONNREFUSED ${host}:1`));
    const message = 'connect ECONNREFUSED ::1:1; connect ECONNREFUSED 127.0.0.1:1';
    expect(logged(new AggregateError(errors))).toMatchObject({ message });
  });

  it('has the stack of any other error', () => {
    expect(logged(new TypeError('x is undefined'))).toMatchObject({
      type: 'TypeError',
      stack: expect.stringContaining('log.spec') as string,
    });
  });
});
