import { Module } from '@nestjs/common';
import { IdentityModule } from '#libs/identity';
import { AccountRemover } from './account-remover.js';
import { Closings } from './closings.js';

/** Closes accounts. */
@Module({ imports: [IdentityModule], providers: [Closings], exports: [Closings] })
export class ClosingsModule {}

/** Removes the data of closed accounts, in a worker. */
@Module({ providers: [AccountRemover] })
export class ClosingWorkerModule {}
