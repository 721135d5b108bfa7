import { Module } from '@nestjs/common';
import { PartitionKeeper } from './partition-keeper.js';

/** Creates the partitions of the coming days. */
@Module({ providers: [PartitionKeeper] })
export class PartitionsModule {}
