import type { INestApplicationContext, Type } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { type Config, RuntimeModule } from '#libs/runtime';
import type { TestDatabase } from './database.js';
import { testRedisUrl } from './environment.js';

/** The contexts of these modules on a test's own database; close it before the database is dropped. */
export async function contextOf(
  database: TestDatabase,
  modules: Type[],
  fixed: Partial<Config> = {},
): Promise<INestApplicationContext> {
  process.env.DATABASE_URL = database.url;
  process.env.REDIS_URL = testRedisUrl().toString();
  const kernel = RuntimeModule.forProcess('test', { LOG_LEVEL: 'silent', ...fixed });
  const context = await Test.createTestingModule({ imports: [kernel, ...modules] }).compile();
  return context.init();
}
