import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditTrail } from '#libs/kernel';
import { AccountClosings } from './domain/account-closings.js';
import { AuditLog } from './domain/audit-log.js';
import { CredentialsRepository } from './domain/credential.js';
import { EnvironmentsRepository, EnvironmentsService } from './domain/environments.service.js';
import { Links } from './domain/links.service.js';
import { Logins } from './domain/logins.js';
import { OperatorReads } from './domain/operator-reads.js';
import { PasswordHasher } from './domain/password-check.js';
import { Sessions } from './domain/sessions.service.js';
import { UsersRepository } from './domain/user.js';
import { UserImporter } from './domain/user-importer.js';
import { UsersService } from './domain/users.service.js';
import { Argon2PasswordHasher } from './infrastructure/argon2-password-hasher.js';
import {
  CredentialSchema,
  EnvironmentSchema,
  UserSchema,
} from './infrastructure/identity-schema.js';
import { PostgresAuditLog, PostgresAuditTrail } from './infrastructure/postgres-audit.js';
import { PostgresLinks } from './infrastructure/postgres-links.js';
import { PostgresLogins } from './infrastructure/postgres-logins.js';
import { PostgresSessions } from './infrastructure/postgres-sessions.js';
import {
  TypeOrmCredentialsRepository,
  TypeOrmEnvironmentsRepository,
  TypeOrmUsersRepository,
} from './infrastructure/typeorm-repositories.js';

/** Users, credentials, environments and the audit, without HTTP. */
@Module({
  imports: [TypeOrmModule.forFeature([UserSchema, CredentialSchema, EnvironmentSchema])],
  providers: [
    AccountClosings,
    EnvironmentsService,
    OperatorReads,
    UserImporter,
    UsersService,
    { provide: AuditLog, useClass: PostgresAuditLog },
    { provide: AuditTrail, useClass: PostgresAuditTrail },
    { provide: CredentialsRepository, useClass: TypeOrmCredentialsRepository },
    { provide: EnvironmentsRepository, useClass: TypeOrmEnvironmentsRepository },
    { provide: Links, useClass: PostgresLinks },
    { provide: Logins, useClass: PostgresLogins },
    { provide: PasswordHasher, useClass: Argon2PasswordHasher },
    { provide: Sessions, useClass: PostgresSessions },
    { provide: UsersRepository, useClass: TypeOrmUsersRepository },
  ],
  exports: [
    AccountClosings,
    AuditLog,
    AuditTrail,
    EnvironmentsService,
    Links,
    Logins,
    OperatorReads,
    PasswordHasher,
    Sessions,
    UserImporter,
    UsersService,
  ],
})
export class IdentityModule {}
