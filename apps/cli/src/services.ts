import { Module, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import pg from 'pg';
import { ApplicationsModule, ApplicationsService } from '#libs/applications';
import { IdentityModule, UsersService } from '#libs/identity';
import { actAs } from '#libs/kernel';
import { configFromEnvironment, RuntimeModule } from '#libs/runtime';

const CONNECT_TIMEOUT_MS = 3_000;
const DATABASE_POOL_SIZE = 2;

// Silent, because standard output belongs to the command, and a failure is reported once, at the end.
export const kernel = RuntimeModule.forProcess('cli', { LOG_LEVEL: 'silent', DATABASE_POOL_SIZE });

@Module({ imports: [kernel, IdentityModule, ApplicationsModule] })
class CliModule {}

/** Runs `use` with the users of this installation. */
export function withUsers<Result>(use: (users: UsersService) => Promise<Result>): Promise<Result> {
  return withService(UsersService, use);
}

/** Runs `use` with the applications of this installation. */
export function withApplications<Result>(
  use: (applications: ApplicationsService) => Promise<Result>,
): Promise<Result> {
  return withService(ApplicationsService, use);
}

/** Runs `use` with a service of a module. */
export async function withService<Service, Result>(
  service: Type<Service>,
  use: (service: Service) => Promise<Result>,
  module: Type = CliModule,
): Promise<Result> {
  await requireDatabase();
  const context = await NestFactory.createApplicationContext(module, {
    logger: false,
    abortOnError: false,
  });
  try {
    return await actAs({ name: 'cli' }, () => use(context.get(service)));
  } finally {
    await context.close();
  }
}

/** Fails at once without a database. Nest would retry for half a minute, which suits only servers. */
async function requireDatabase(): Promise<void> {
  const client = new pg.Client({
    connectionString: configFromEnvironment().DATABASE_URL,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  // If the connection is lost later, the command itself fails.
  client.on('error', () => undefined);
  await client.connect();
  await client.end();
}
