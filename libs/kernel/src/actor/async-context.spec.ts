import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { AsyncContext } from './async-context.js';

describe('AsyncContext', () => {
  it('is present in all that is called inside, and nowhere else', async () => {
    const context = new AsyncContext<string>();
    const seen = context.run('here', async () => {
      await turn();
      return context.present;
    });
    expect(context.present).toBeUndefined();
    expect(await seen).toBe('here');
    expect(context.present).toBeUndefined();
  });

  it('stays while anybody is inside, and comes back after all have left', async () => {
    const context = new AsyncContext<number>();
    const late = context.run(1, async () => {
      for (let turns = 0; turns < 5; turns += 1) await turn();
      return context.present;
    });
    await context.run(2, turn);
    expect(await late).toBe(1);
    expect(await context.run(3, () => turn().then(() => context.present))).toBe(3);
  });

  it('stays for what was begun until its end is told', async () => {
    const context = new AsyncContext<string>();
    let seen: Promise<string | undefined> | undefined;
    const end = context.begin('begun', () => {
      seen = turn()
        .then(turn)
        .then(() => context.present);
    });
    await context.run('other', turn);
    expect(await seen).toBe('begun');
    end();
    expect(context.present).toBeUndefined();
  });

  it('is left by work that fails', async () => {
    const context = new AsyncContext<string>();
    const failure = new Error('of the work');
    await expect(context.run('here', () => Promise.reject(failure))).rejects.toBe(failure);
    expect(await context.run('again', () => Promise.resolve(context.present))).toBe('again');
  });
});
