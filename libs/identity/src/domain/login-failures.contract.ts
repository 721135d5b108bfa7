import { expect, it } from 'vitest';
import { FAILURE_WINDOW_MS, type LoginCounter, type LoginFailures } from './login-failures.js';

/** A count under test. */
interface LoginFailuresUnderTest {
  failures: () => LoginFailures;
  /** Makes it as if so many ms had passed since the count of a login began. */
  pass: (login: string, ms: number) => Promise<void>;
}

const ten = (key: string): LoginCounter => ({ key, allowed: 10 });

/** What every implementation of {@link LoginFailures} must do. */
export function loginFailuresContract({ failures, pass }: LoginFailuresUnderTest): void {
  const fail = async (login: string, times: number): Promise<void> => {
    for (let time = 0; time < times; time += 1) {
      expect(await failures().begin(ten(login))).toBe(0);
      failures().end(ten(login), 'failed');
    }
  };

  it('allows ten failures, then tells how long the window still lasts', async () => {
    await fail('ten', 10);
    const wait = await failures().begin(ten('ten'));
    expect(wait).toBeGreaterThan(FAILURE_WINDOW_MS - 10_000);
    expect(wait).toBeLessThanOrEqual(FAILURE_WINDOW_MS);
    expect(await failures().begin(ten('another'))).toBe(0);
  });

  it('does not extend the window by attempts in it', async () => {
    await fail('window', 9);
    await pass('window', FAILURE_WINDOW_MS / 2);
    await fail('window', 1);
    expect(await failures().begin(ten('window'))).toBeLessThanOrEqual(FAILURE_WINDOW_MS / 2);
    await pass('window', FAILURE_WINDOW_MS / 2);
    await fail('window', 10);
    expect(await failures().begin(ten('window'))).toBeGreaterThan(FAILURE_WINDOW_MS / 2);
  });

  it('allows ten attempts at once, and asks the next one to retry soon while they are undecided', async () => {
    const all = Array.from({ length: 30 }, () => failures().begin(ten('at once')));
    const waits = await Promise.all(all);
    expect(waits.filter((wait) => wait === 0)).toHaveLength(10);
    expect(waits.filter((wait) => wait === 1_000)).toHaveLength(20);
    failures().end(ten('at once'), 'undecided');
    expect(await failures().begin(ten('at once'))).toBe(0);
  });

  it('starts again after a success', async () => {
    await fail('right', 9);
    expect(await failures().begin(ten('right'))).toBe(0);
    failures().end(ten('right'), 'succeeded');
    await fail('right', 10);
    expect(await failures().begin(ten('right'))).toBeGreaterThan(1_000);
  });

  it('forgets undecided attempts', async () => {
    for (let time = 0; time < 30; time += 1) {
      expect(await failures().begin(ten('undecided'))).toBe(0);
      failures().end(ten('undecided'), 'undecided');
    }
    await fail('undecided', 10);
  });

  it('starts no window with an attempt that ends after its own', async () => {
    await failures().begin(ten('late'));
    await pass('late', FAILURE_WINDOW_MS);
    failures().end(ten('late'), 'failed');
    await fail('late', 10);
    expect(await failures().begin(ten('late'))).toBeGreaterThan(1_000);
  });
}
