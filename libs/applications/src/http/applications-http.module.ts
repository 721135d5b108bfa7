import { Module } from '@nestjs/common';
import { IdentityHttpModule } from '#libs/identity/http';
import { ApplicationsModule } from '../infrastructure/applications.module.js';
import { ApplicationsController } from './applications.controller.js';

/** The applications' part of the API. */
@Module({
  imports: [ApplicationsModule, IdentityHttpModule],
  controllers: [ApplicationsController],
})
export class ApplicationsHttpModule {}
