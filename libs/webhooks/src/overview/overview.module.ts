import { Module } from '@nestjs/common';
import { Overview } from './domain/overview.js';
import { InstallationOverview } from './infrastructure/installation-overview.js';

/** Reads the state of the installation. */
@Module({
  providers: [{ provide: Overview, useClass: InstallationOverview }],
  exports: [Overview],
})
export class OverviewModule {}
