import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Ambient } from './ambient.js';

describe('Ambient', () => {
  it('is present in all that is called inside, and nowhere else', async () => {
    const ambient = new Ambient<string>();
    const seen = ambient.run('here', async () => {
      await turn();
      return ambient.present;
    });
    expect(ambient.present).toBeUndefined();
    expect(await seen).toBe('here');
    expect(ambient.present).toBeUndefined();
  });

  it('stays while anybody is inside, and comes back after all have left', async () => {
    const ambient = new Ambient<number>();
    const late = ambient.run(1, async () => {
      for (let turns = 0; turns < 5; turns += 1) await turn();
      return ambient.present;
    });
    await ambient.run(2, turn);
    expect(await late).toBe(1);
    expect(await ambient.run(3, () => turn().then(() => ambient.present))).toBe(3);
  });

  it('stays for what was begun until its end is told', async () => {
    const ambient = new Ambient<string>();
    let seen: Promise<string | undefined> | undefined;
    const end = ambient.begin('begun', () => {
      seen = turn()
        .then(turn)
        .then(() => ambient.present);
    });
    await ambient.run('other', turn);
    expect(await seen).toBe('begun');
    end();
    expect(ambient.present).toBeUndefined();
  });

  it('is left by work that fails', async () => {
    const ambient = new Ambient<string>();
    const failure = new Error('of the work');
    await expect(ambient.run('here', () => Promise.reject(failure))).rejects.toBe(failure);
    expect(await ambient.run('again', () => Promise.resolve(ambient.present))).toBe('again');
  });
});
