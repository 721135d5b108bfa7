import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Opened, openFirst, type Opening } from './happy-eyeballs.js';

/** A connection that is being opened, as a test ends it. */
interface Try {
  address: string;
  accept: () => { destroyed: boolean };
  fail: (code: string) => void;
}

let race: AbortController;
let tries: Try[];
let opened: Promise<Opened>;

const open: Opening = (address) =>
  new Promise((resolve, reject) => {
    tries.push({
      address,
      accept: () => {
        const socket = { destroyed: false, destroy: () => (socket.destroyed = true) };
        resolve(socket as unknown as Socket);
        return socket;
      },
      fail: (code) => reject(Object.assign(new Error(code), { code, address })),
    });
  });

function start(...addresses: string[]): void {
  const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  opened = openFirst(found, open, race);
  // Or a rejection that a test looks at later would end the process.
  opened.catch(() => undefined);
}

const tried = (): string[] => tries.map(({ address }) => address);
/** Lets what was accepted or failed take effect. */
const settle = () => vi.advanceTimersByTimeAsync(0);

beforeEach(() => {
  vi.useFakeTimers();
  race = new AbortController();
  tries = [];
});
afterEach(() => {
  vi.useRealTimers();
});

describe('one address', () => {
  it('takes no timer and no listener', async () => {
    const listen = vi.spyOn(race.signal, 'addEventListener');
    start('192.0.2.1');
    expect(vi.getTimerCount()).toBe(0);
    expect(listen).not.toHaveBeenCalled();
    tries[0]!.accept();
    expect(await opened).toMatchObject({ address: '192.0.2.1' });
    expect(race.signal.aborted).toBe(false);
  });
});

describe('several addresses', () => {
  it('are tried a quarter of a second after one another, in turn by family', async () => {
    start('192.0.2.1', '192.0.2.2', '192.0.2.3', '2001:db8::1', '2001:db8::2');
    expect(tried()).toEqual(['192.0.2.1']);
    await vi.advanceTimersByTimeAsync(249);
    expect(tried()).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(tried()).toEqual(['192.0.2.1', '2001:db8::1']);
    await vi.advanceTimersByTimeAsync(750);
    expect(tried().slice(2)).toEqual(['192.0.2.2', '2001:db8::2', '192.0.2.3']);
    expect(vi.getTimerCount()).toBe(0);
    expect(race.signal.aborted).toBe(false);
  });

  it('are tried at once when the one before fails, and the next a quarter of a second later', async () => {
    start('192.0.2.1', '192.0.2.2', '192.0.2.3');
    await vi.advanceTimersByTimeAsync(200);
    tries[0]!.fail('ECONNREFUSED');
    await settle();
    expect(tried()).toEqual(['192.0.2.1', '192.0.2.2']);
    await vi.advanceTimersByTimeAsync(249);
    expect(tried()).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(1);
    expect(tried()).toHaveLength(3);
  });

  it('are all given up, and their timer with them, when one accepts', async () => {
    start('192.0.2.1', '192.0.2.2', '192.0.2.3');
    await vi.advanceTimersByTimeAsync(250);
    const winner = tries[1]!.accept();
    expect(await opened).toMatchObject({ socket: winner, address: '192.0.2.2' });
    expect(race.signal.aborted).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
    const late = tries[0]!.accept();
    await settle();
    expect([winner.destroyed, late.destroyed]).toEqual([false, true]);
    expect(tried()).toHaveLength(2);
  });

  it('end with the race', async () => {
    start('192.0.2.1', '192.0.2.2');
    const reason = new Error('too late');
    race.abort(reason);
    await expect(opened).rejects.toBe(reason);
    expect(vi.getTimerCount()).toBe(0);
    const late = tries[0]!.accept();
    await settle();
    expect(late.destroyed).toBe(true);
  });

  it('fail with the error of the first one, whichever fails first', async () => {
    start('192.0.2.1', '192.0.2.2');
    await vi.advanceTimersByTimeAsync(250);
    tries[1]!.fail('EHOSTUNREACH');
    await settle();
    tries[0]!.fail('ECONNREFUSED');
    await expect(opened).rejects.toMatchObject({ code: 'ECONNREFUSED', address: '192.0.2.1' });
  });

  it('are not all tried when this host lacks resources, and fail for that reason', async () => {
    start('192.0.2.1', '192.0.2.2', '192.0.2.3');
    await vi.advanceTimersByTimeAsync(250);
    tries[1]!.fail('EMFILE');
    await vi.advanceTimersByTimeAsync(1_000);
    expect(tried()).toHaveLength(2);
    tries[0]!.fail('ECONNREFUSED');
    await expect(opened).rejects.toMatchObject({ code: 'EMFILE' });
    expect(vi.getTimerCount()).toBe(0);
  });

  it('can still answer when there are not enough resources for the next', async () => {
    start('192.0.2.1', '192.0.2.2');
    await vi.advanceTimersByTimeAsync(250);
    tries[1]!.fail('EMFILE');
    await settle();
    tries[0]!.accept();
    expect(await opened).toMatchObject({ address: '192.0.2.1' });
  });

  it('are tried six at once, and the seventh when one of them fails', async () => {
    start(...Array.from({ length: 20 }, (_, n) => `192.0.2.${n}`));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(tried()).toHaveLength(6);
    tries[3]!.fail('ECONNREFUSED');
    await settle();
    expect(tried()).toHaveLength(7);
  });

  it('are tried until the sixteenth has failed', async () => {
    start(...Array.from({ length: 20 }, (_, n) => `192.0.2.${n}`));
    for (let at = 0; at < 16; at += 1) {
      tries[at]!.fail('ECONNREFUSED');
      await settle();
    }
    await expect(opened).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect(tried()).toHaveLength(16);
  });
});
