import { expect, it } from 'vitest';
import type { RateLimiter } from './rate-limiter.js';

/** A limiter under test. */
interface RateLimiterUnderTest {
  limiter: () => RateLimiter;
  /** Makes it as if so many ms had passed for an account. */
  pass: (accountId: string, ms: number) => Promise<void>;
}

const HOUR_MS = 3_600_000;
/** One more every six minutes: a slow run of the test changes nothing. */
const TEN_AN_HOUR = { quota: 10, windowMs: HOUR_MS };

/** What every implementation of {@link RateLimiter} must do. */
export function rateLimiterContract({ limiter, pass }: RateLimiterUnderTest): void {
  const take = (accountId: string, limit = TEN_AN_HOUR) => limiter().consume(accountId, limit);

  it('grants the whole quota at once, then tells how long to wait for one more', async () => {
    for (let remaining = 9; remaining >= 0; remaining -= 1) {
      expect(await take('1')).toMatchObject({ allowed: true, remaining });
    }
    for (let time = 0; time < 3; time += 1) {
      const refused = await take('1');
      expect(refused).toMatchObject({ allowed: false, remaining: 0 });
      expect(refused.nextMs).toBeGreaterThan(HOUR_MS / 10 - 60_000);
      expect(refused.nextMs).toBeLessThanOrEqual(HOUR_MS / 10);
    }
    expect(await take('2')).toMatchObject({ allowed: true, remaining: 9 });
  });

  it('fills evenly, and not beyond the quota', async () => {
    for (let time = 0; time < 10; time += 1) await take('3');
    await pass('3', HOUR_MS / 10);
    expect(await take('3')).toMatchObject({ allowed: true, remaining: 0 });
    expect(await take('3')).toMatchObject({ allowed: false });
    await pass('3', (HOUR_MS / 10) * 4.5);
    expect(await take('3')).toMatchObject({ allowed: true, remaining: 3 });
    await pass('3', HOUR_MS);
    expect(await take('3')).toMatchObject({ allowed: true, remaining: 9 });
  });

  it.each([1, 3, 6, 7, 9, 11, 13, 600, 999])(
    'grants %i of many concurrent requests',
    async (quota) => {
      const limit = { quota, windowMs: HOUR_MS };
      const all = Array.from({ length: quota + 5 }, () => take(`at once ${quota}`, limit));
      const allowances = await Promise.all(all);
      expect(allowances.map(({ allowed }) => allowed)).toEqual([
        ...Array<boolean>(quota).fill(true),
        ...Array<boolean>(5).fill(false),
      ]);
      expect(allowances.map(({ remaining }) => remaining)).toEqual([
        ...Array.from({ length: quota }, (_, index) => quota - 1 - index),
        ...Array<number>(5).fill(0),
      ]);
    },
  );

  it('never exceeds a quota that is taken in parts, under any concurrency', async () => {
    const limit = { quota: 2_500, windowMs: 1_000 * HOUR_MS };
    const one = limiter();
    const all = Array.from({ length: 2_600 }, () => one.consume('in parts', limit));
    const allowed = (await Promise.all(all)).filter((allowance) => allowance.allowed);
    expect(allowed).toHaveLength(2_500);
  });
}
