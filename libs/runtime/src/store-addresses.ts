import type { Config } from './config/config.js';
import { redisAddressOf } from './redis/redis-address.js';

/** Where the stores are, without logins, for the log. */
export function storeAddresses({ DATABASE_URL, REDIS_URL }: Config): {
  postgres: string;
  redis: string;
} {
  const redis = redisAddressOf(REDIS_URL);
  return {
    postgres: withoutLogin(DATABASE_URL),
    redis:
      redis && redis.kind !== 'server'
        ? redis.nodes.map(({ host, port }) => `${host}:${port}`).join(',')
        : withoutLogin(REDIS_URL),
  };
}

/** Host, port and path: a query may contain a password, too. */
function withoutLogin(url: string): string {
  if (!URL.canParse(url)) return 'not a URL';
  const { host, pathname } = new URL(url);
  return host + pathname.replace(/^\/$/, '');
}
