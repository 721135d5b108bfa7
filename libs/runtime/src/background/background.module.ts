import { Global, Module } from '@nestjs/common';
import { BackgroundTasks } from './background-tasks.js';

/** Provides {@link BackgroundTasks} to every module of the process. */
@Global()
@Module({ providers: [BackgroundTasks], exports: [BackgroundTasks] })
export class BackgroundModule {}
