import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { RedisLimits } from '#libs/runtime';
import { Authenticator } from '../domain/authenticator.js';
import { LinksService } from '../domain/links.service.js';
import { CredentialUses } from '../domain/logins.js';
import { LoginFailures } from '../domain/login-failures.js';
import { PasswordCheck } from '../domain/password-check.js';
import { RateLimiter } from '../domain/rate-limiter.js';
import { SessionsService } from '../domain/sessions.service.js';
import { IdentityModule } from '../identity.module.js';
import { PostgresCredentialUses } from '../infrastructure/postgres-logins.js';
import { RedisLoginFailures } from '../infrastructure/redis-login-failures.js';
import { RedisRateLimiter } from '../infrastructure/redis-rate-limiter.js';
import { AccessGuard } from './access.guard.js';
import { AuditController } from './audit.controller.js';
import { BasicAuthGuard } from './basic-auth.guard.js';
import { EnvironmentsController } from './environments.controller.js';
import { LinksController } from './links.controller.js';
import { RateLimitGuard } from './rate-limit.guard.js';
import { RequestLogin } from './request-login.js';
import { SessionController } from './session.controller.js';
import { UsersController } from './users.controller.js';

/** Users, environments, the audit, and the guards that protect every route of the process by default. */
@Module({
  imports: [IdentityModule],
  controllers: [
    UsersController,
    LinksController,
    EnvironmentsController,
    AuditController,
    SessionController,
  ],
  providers: [
    Authenticator,
    LinksService,
    PasswordCheck,
    RedisLimits,
    RequestLogin,
    SessionsService,
    { provide: CredentialUses, useClass: PostgresCredentialUses },
    { provide: LoginFailures, useClass: RedisLoginFailures },
    { provide: RateLimiter, useClass: RedisRateLimiter },
    // In this order: authentication, rate limits, role and scope.
    { provide: APP_GUARD, useClass: BasicAuthGuard },
    { provide: APP_GUARD, useClass: RateLimitGuard },
    { provide: APP_GUARD, useClass: AccessGuard },
  ],
  exports: [IdentityModule],
})
export class IdentityHttpModule {}
