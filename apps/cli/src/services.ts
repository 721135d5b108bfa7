import { type DynamicModule, Injectable, Module, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ApplicationsModule, ApplicationsService } from '#libs/applications';
import { AccountClosings, IdentityModule, UserImporter, UsersService } from '#libs/identity';
import { actAs, Transactions } from '#libs/kernel';
import { type Config, connectOnce, readConfigOf, RuntimeModule } from '#libs/runtime';

@Module({})
class CliModule {}

/** Runs `use` with the users of this installation. */
export function withUsers<Result>(use: (users: UsersService) => Promise<Result>): Promise<Result> {
  return withService(IdentityModule, UsersService, use);
}

/** The services of closing an account. */
@Injectable()
class AccountClosing {
  constructor(
    readonly users: UsersService,
    readonly closings: AccountClosings,
  ) {}
}

/** Runs `use` with what closes accounts of this installation. */
export async function withClosing<Result>(
  use: (closing: AccountClosing) => Promise<Result>,
): Promise<Result> {
  // Only here, because the library loads slowly.
  const { ClosingsModule } = await import('#libs/webhooks');
  const module = { module: ClosingModule, imports: [IdentityModule, ClosingsModule] };
  return withService(module, AccountClosing, use);
}

@Module({ providers: [AccountClosing], exports: [AccountClosing] })
class ClosingModule {}

/** The services of an import. */
@Injectable()
class Imports {
  constructor(
    readonly users: UserImporter,
    readonly applications: ApplicationsService,
    readonly transactions: Transactions,
  ) {}
}

@Module({ imports: [IdentityModule, ApplicationsModule], providers: [Imports] })
class ImportsModule {}

/** Runs `use` with the users and applications of this installation. */
export function withImports<Result>(use: (imports: Imports) => Promise<Result>): Promise<Result> {
  return withService(ImportsModule, Imports, use);
}

/** Runs `use` with a service of a module. Other modules are not started, so their settings are not required. */
export async function withService<Service, Result>(
  module: Type | DynamicModule,
  service: Type<Service>,
  use: (service: Service) => Promise<Result>,
): Promise<Result> {
  const config: Config = {
    ...readConfigOf('cli'),
    // Standard output belongs to the command, and a failure is reported once, at the end.
    LOG_LEVEL: 'silent',
    DATABASE_POOL_SIZE: 2,
  };
  // Fails at once without a database. Nest would retry for half a minute, which suits only servers.
  await connectOnce(config);
  const imports = [RuntimeModule.forProcess('cli', config), module];
  const context = await NestFactory.createApplicationContext(
    { module: CliModule, imports },
    { logger: false, abortOnError: false },
  );
  try {
    return await actAs({ name: 'cli' }, () => use(context.get(service)));
  } finally {
    await context.close();
  }
}
