import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { IdentityModule } from '#libs/identity';
import { ApplicationDeletions } from '../domain/application-deletions.js';
import { ApplicationImports } from '../domain/application-imports.js';
import { ApplicationsRepository } from '../domain/applications.repository.js';
import { ApplicationsService } from '../domain/applications.service.js';
import { ApplicationSchema } from './application.schema.js';
import { TypeOrmApplicationImports } from './typeorm-application-imports.js';
import { TypeOrmApplicationsRepository } from './typeorm-applications.repository.js';

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
