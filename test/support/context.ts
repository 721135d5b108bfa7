import type { INestApplicationContext, Type } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { type Config, readConfig, RuntimeModule } from '#libs/runtime';
import type { TestDatabase } from './database.js';
import { testRedisUrl } from './environment.js';

/** These modules on a test database. Close it before the database is dropped. */
export async function contextOf(
  { url: DATABASE_URL }: TestDatabase,
  modules: Type[],
  fixed: Partial<Config> = {},
): Promise<INestApplicationContext> {
  const REDIS_URL = testRedisUrl().toString();
  const config = readConfig({ DATABASE_URL, REDIS_URL, LOG_LEVEL: 'silent' });
  const kernel = RuntimeModule.forProcess('test', { ...config, ...fixed });
  const context = await Test.createTestingModule({ imports: [kernel, ...modules] }).compile();
  return context.init();
}
