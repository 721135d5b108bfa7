import { Module } from '@nestjs/common';
import { IdentityModule } from '#libs/identity';
import { Erasures } from './erasures.js';
import { EventEraser } from './infrastructure/event-eraser.js';

/** Starts and shows erasures. */
@Module({ imports: [IdentityModule], providers: [Erasures], exports: [Erasures] })
export class ErasuresModule {}

/** Carries out erasures, in a worker. */
@Module({ providers: [EventEraser] })
export class ErasureWorkerModule {}
