import { Module } from '@nestjs/common';
import { AccountLoads } from './accounts.js';
import { Overview } from './overview.js';

/** Reads the state of the installation. */
@Module({ providers: [AccountLoads, Overview], exports: [AccountLoads, Overview] })
export class OverviewModule {}
