import { Redis } from 'ioredis';
import { testRedisUrl } from './environment.js';

/** Resets the failed logins in this test worker's Redis, if it has one. */
export async function forgetLogins(): Promise<void> {
  if (process.env.TEST_REDIS_URL === undefined) return;
  const redis = new Redis(testRedisUrl().toString());
  const keys = await redis.keys('switchhook:login:*');
  if (keys.length > 0) await redis.del(keys);
  redis.disconnect();
}
