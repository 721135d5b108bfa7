import { type INestApplicationContext, Module, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { type Config, KernelModule } from '#libs/kernel';
import type { TestDatabase } from './database.js';
import { testRedisUrl } from './environment.js';

@Module({})
class TestProcess {}

/** The contexts of these modules on a test's own database; close it before the database is dropped. */
export function contextOf(
  database: TestDatabase,
  modules: Type[],
  fixed: Partial<Config> = {},
): Promise<INestApplicationContext> {
  process.env.DATABASE_URL = database.url;
  process.env.REDIS_URL = testRedisUrl().toString();
  const kernel = KernelModule.forProcess('test', { LOG_LEVEL: 'silent', ...fixed });
  return NestFactory.createApplicationContext(
    { module: TestProcess, imports: [kernel, ...modules] },
    { logger: false, abortOnError: false },
  );
}
