import { Module } from '@nestjs/common';
import { Overview } from './overview.js';

/** Reads the state of the installation. */
@Module({ providers: [Overview], exports: [Overview] })
export class OverviewModule {}
