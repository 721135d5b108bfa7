import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { IdentityModule } from '../identity.module.js';
import { AuditController } from './audit.controller.js';
import { BasicAuthGuard } from './basic-auth.guard.js';
import { EnvironmentsController } from './environments.controller.js';
import { RoleGuard } from './role.guard.js';
import { UsersController } from './users.controller.js';

/** Users, environments, the audit, and the guards that close every route of the process by default. */
@Module({
  imports: [IdentityModule],
  controllers: [UsersController, EnvironmentsController, AuditController],
  providers: [
    // In this order: who calls, then what its role allows.
    { provide: APP_GUARD, useClass: BasicAuthGuard },
    { provide: APP_GUARD, useClass: RoleGuard },
  ],
})
export class IdentityHttpModule {}
