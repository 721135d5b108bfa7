import { Redis } from 'ioredis';
import { testRedisUrl } from './environment.js';

/** Forgets the failed logins that this test worker's Redis has counted; without one there are none. */
export async function forgetLogins(): Promise<void> {
  if (process.env.TEST_REDIS_URL === undefined) return;
  const redis = new Redis(testRedisUrl().toString());
  const keys = await redis.keys('switchhook:login:*');
  if (keys.length > 0) await redis.del(keys);
  redis.disconnect();
}
