import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { loginFailuresContract } from './login-failures.contract.js';
import { LocalLoginFailures } from './login-failures.js';
import { rateLimiterContract } from './rate-limiter.contract.js';
import { LocalRateLimiter } from './rate-limiter.js';

const FIVE_AN_HOUR = { quota: 5, windowMs: 3_600_000 };
/** How many entries a process keeps in memory. */
const MAX_CACHED = 50_000;

describe('in one process without Redis', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });
  const pass = (_: string, ms: number) => Promise.resolve(void vi.advanceTimersByTime(ms));

  describe('failed logins', () => {
    const failures = new LocalLoginFailures();
    loginFailuresContract({ failures: () => failures, pass });

    it('are kept for fifty thousand logins, then the oldest are dropped', async () => {
      const many = new LocalLoginFailures();
      const ten = (key: string) => ({ key, allowed: 10 });
      const failTen = async (login: string): Promise<void> => {
        for (let time = 0; time < 10; time += 1) {
          await many.begin(ten(login));
          many.end(ten(login), 'failed');
        }
      };
      const others = async (prefix: string, count: number) => {
        for (let n = 0; n < count; n += 1) await many.begin(ten(`${prefix}${String(n)}`));
      };
      for (const login of ['used', 'unused']) await failTen(login);
      await others('a', MAX_CACHED - 2);
      expect(await many.begin(ten('used'))).toBeGreaterThan(1_000);
      await others('b', MAX_CACHED - 1);
      expect(await many.begin(ten('used'))).toBeGreaterThan(1_000);
      expect(await many.begin(ten('unused'))).toBe(0);
    });
  });

  describe('rates', () => {
    const limiter = new LocalRateLimiter();
    rateLimiterContract({ limiter: () => limiter, pass });

    it('are kept for fifty thousand accounts, then the oldest are dropped', async () => {
      const many = new LocalRateLimiter();
      const take = (account: string) => many.consume(account, FIVE_AN_HOUR);
      const others = async (prefix: string, count: number) => {
        for (let n = 0; n < count; n += 1) await take(`${prefix}${String(n)}`);
      };
      for (const account of ['used', 'unused']) await take(account);
      await others('a', MAX_CACHED - 2);
      expect(await take('used')).toMatchObject({ remaining: 3 });
      await others('b', MAX_CACHED - 1);
      expect(await take('used')).toMatchObject({ remaining: 2 });
      expect(await take('unused')).toMatchObject({ remaining: 4 });
    });
  });
});
