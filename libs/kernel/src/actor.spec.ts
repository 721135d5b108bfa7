import { setImmediate as nextLoop } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { AsyncContext } from './actor.js';

describe('AsyncContext', () => {
  it('gives its value to everything called inside, and to nothing else', async () => {
    const context = new AsyncContext<string>();
    const seen = context.run('here', async () => {
      await nextLoop();
      return context.current;
    });
    expect(context.current).toBeUndefined();
    expect(await seen).toBe('here');
    expect(context.current).toBeUndefined();
  });

  it('keeps its value until the last call has ended, and can be used again', async () => {
    const context = new AsyncContext<number>();
    const late = context.run(1, async () => {
      for (let loops = 0; loops < 5; loops += 1) await nextLoop();
      return context.current;
    });
    await context.run(2, nextLoop);
    expect(await late).toBe(1);
    expect(await context.run(3, () => nextLoop().then(() => context.current))).toBe(3);
  });

  it('ends when the work fails', async () => {
    const context = new AsyncContext<string>();
    const failure = new Error('of the work');
    await expect(context.run('here', () => Promise.reject(failure))).rejects.toBe(failure);
    expect(await context.run('again', () => Promise.resolve(context.current))).toBe('again');
  });
});
