import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { IdentityModule } from '#libs/identity';
import { ApplicationDeletions, ApplicationsService } from './domain/applications.service.js';
import { ApplicationImports, ApplicationsRepository } from './domain/applications.repository.js';
import { ApplicationSchema } from './infrastructure/applications-schema.js';
import {
  TypeOrmApplicationImports,
  TypeOrmApplicationsRepository,
} from './infrastructure/typeorm-applications.js';

/** Applications, without HTTP. */
@Module({
  imports: [TypeOrmModule.forFeature([ApplicationSchema]), IdentityModule],
  providers: [
    ApplicationsService,
    ApplicationDeletions,
    { provide: ApplicationsRepository, useClass: TypeOrmApplicationsRepository },
    { provide: ApplicationImports, useClass: TypeOrmApplicationImports },
  ],
  exports: [ApplicationsService, ApplicationDeletions],
})
export class ApplicationsModule {}
