import { Module } from '@nestjs/common';
import { IdentityHttpModule } from '#libs/identity/http';
import { ApplicationsModule } from '../applications.module.js';
import { ApplicationsController } from './applications.controller.js';

/** The API of applications. */
@Module({
  imports: [ApplicationsModule, IdentityHttpModule],
  controllers: [ApplicationsController],
})
export class ApplicationsHttpModule {}
