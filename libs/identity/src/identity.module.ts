import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditTrail } from '#libs/kernel';
import { AuditLog } from './domain/audit-log.js';
import { CredentialsRepository } from './domain/credentials.repository.js';
import { EnvironmentsRepository } from './domain/environments.repository.js';
import { EnvironmentsService } from './domain/environments.service.js';
import { Logins } from './domain/logins.js';
import { PasswordHasher } from './domain/password-hasher.js';
import { Sessions } from './domain/session.js';
import { UsersRepository } from './domain/users.repository.js';
import { UsersService } from './domain/users.service.js';
import { Argon2PasswordHasher } from './infrastructure/argon2-password-hasher.js';
import { CredentialSchema } from './infrastructure/credential.schema.js';
import { EnvironmentSchema } from './infrastructure/environment.schema.js';
import { PostgresAuditLog } from './infrastructure/postgres-audit-log.js';
import { PostgresAuditTrail } from './infrastructure/postgres-audit-trail.js';
import { PostgresLogins } from './infrastructure/postgres-logins.js';
import { PostgresSessions } from './infrastructure/postgres-sessions.js';
import { TypeOrmCredentialsRepository } from './infrastructure/typeorm-credentials.repository.js';
import { TypeOrmEnvironmentsRepository } from './infrastructure/typeorm-environments.repository.js';
import { TypeOrmUsersRepository } from './infrastructure/typeorm-users.repository.js';
import { UserSchema } from './infrastructure/user.schema.js';

/** Users, credentials, environments and the audit, without HTTP. */
@Module({
  imports: [TypeOrmModule.forFeature([UserSchema, CredentialSchema, EnvironmentSchema])],
  providers: [
    EnvironmentsService,
    UsersService,
    { provide: AuditLog, useClass: PostgresAuditLog },
    { provide: AuditTrail, useClass: PostgresAuditTrail },
    { provide: CredentialsRepository, useClass: TypeOrmCredentialsRepository },
    { provide: EnvironmentsRepository, useClass: TypeOrmEnvironmentsRepository },
    { provide: Logins, useClass: PostgresLogins },
    { provide: PasswordHasher, useClass: Argon2PasswordHasher },
    { provide: Sessions, useClass: PostgresSessions },
    { provide: UsersRepository, useClass: TypeOrmUsersRepository },
  ],
  exports: [
    AuditLog,
    AuditTrail,
    EnvironmentsService,
    Logins,
    PasswordHasher,
    Sessions,
    UsersService,
  ],
})
export class IdentityModule {}
