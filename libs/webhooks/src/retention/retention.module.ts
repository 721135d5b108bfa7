import { Module } from '@nestjs/common';
import { SendingModule } from '../sending/sending.module.js';
import { Retention } from './retention.js';

/** Removes old data, in a worker. */
@Module({ imports: [SendingModule], providers: [Retention] })
export class RetentionModule {}
