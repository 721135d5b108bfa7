import { setTimeout as sleep } from 'node:timers/promises';
import {
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type BeforeApplicationShutdown,
} from '@nestjs/common';
import type { Queue } from 'bull';
import { CONFIG, type Config, Log, type RedisConnection, Turns } from '#libs/kernel';
import type { DeliveryJob } from '../domain/delivery.js';
import { DeliveryRunner, type RunResult } from '../domain/delivery-runner.js';
import { type DeliveriesJob, DELIVERY_QUEUES, JOB_NAME } from './delivery-queues.js';
import { DeliveryCanceller } from './delivery-canceller.js';
import { DeliveryFeeder } from './delivery-feeder.js';
import { DeliveryMetrics } from './delivery-metrics.js';

const SUMMARY_MS = 1_000;
/** What is still under way after that is left to the end of its claim. */
const DRAIN_MS = 23_000;
/** How long a worker that stops, and has nothing under way, waits for what Redis still answers. */
const LAST_JOB_MS = 1_000;

/**
 * Jobs of a queue that are taken in at once: enough to have the next ones while Redis is asked, and few,
 * since what a worker has taken in and has no slots for is what another could have sent.
 */
const LOOPS = 8;

/** Consumes the Bull queues: one handler for the one kind of job, on every shard. */
@Injectable()
export class DeliveryConsumer implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly counts = new Map<string, number>();
  private readonly underWay = new Set<Promise<void>>();
  /** Of all queues together: what is slow in one leaves room in it. */
  private readonly slots: Turns;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    @Inject(DELIVERY_QUEUES) private readonly queues: readonly Queue<DeliveriesJob>[],
    private readonly runner: DeliveryRunner,
    private readonly feeder: DeliveryFeeder,
    private readonly canceller: DeliveryCanceller,
    private readonly metrics: DeliveryMetrics,
    private readonly log: Log,
    @Inject(CONFIG) private readonly config: Config,
  ) {
    this.slots = new Turns({ atOnce: config.WORKER_CONCURRENCY });
  }

  onApplicationBootstrap(): void {
    for (const queue of this.queues) void this.consume(queue);
    this.feeder.start();
    this.canceller.start();
  }

  /** SIGTERM: sends nothing new, finishes what is under way, hands back what still comes in. */
  async beforeApplicationShutdown(): Promise<void> {
    this.runner.stop();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, DRAIN_MS);
    });
    const stopped = Promise.allSettled([
      this.feeder.stop(),
      this.canceller.stop(),
      ...this.queues.map((queue) => this.drain(queue)),
    ]);
    await Promise.race([stopped, late]);
    clearTimeout(timer);
    for (const queue of this.queues) letGo(queue);
    this.summarise();
  }

  /**
   * Takes no more jobs and waits for those under way, and until each of Bull's loops has come to ask
   * for the next: what Redis was about to give it is handed back by then, not left to the end of its
   * claim. Not by Bull's own pause(): that leaves such jobs, and connects anew, so without Redis it
   * never ends, or ends the process by an error that nobody listens to.
   */
  private async drain(queue: Queue<DeliveriesJob>): Promise<void> {
    const internals = internalsOf(queue);
    let asking = 0;
    const asked = new Promise<void>((resolve) => {
      internals.getNextJob = () => {
        asking += 1;
        if (asking === LOOPS) resolve();
        return new Promise(() => undefined);
      };
    });
    internals.paused = Promise.resolve();
    internals.bclient.disconnect();
    // A loop that waits for a job waits for ever while Redis is away.
    const patience = this.idle().then(() => sleep(LAST_JOB_MS, undefined, { ref: false }));
    await Promise.race([asked, patience]);
    await this.idle();
  }

  private async idle(): Promise<void> {
    while (this.underWay.size > 0) await Promise.allSettled(this.underWay);
  }

  private async consume(queue: Queue<DeliveriesJob>): Promise<void> {
    // Bull gives up a consumer that starts while Redis is away.
    await ready(queue.client);
    fetchWhenReady(queue);
    parseJobsCheaply(queue);
    try {
      await queue.process(JOB_NAME, LOOPS, (job) => this.begin(job.data.deliveries));
    } catch (error) {
      this.log.error({ err: error }, 'a queue is not consumed any more');
    }
  }

  /**
   * Resolves when each has a slot. From then on they are no business of the queue: PostgreSQL has
   * them, and one that is slow must not keep the job, and with it the others of its loop.
   */
  private async begin(deliveries: readonly DeliveryJob[]): Promise<void> {
    const beginning = deliveries.map(
      (delivery) =>
        new Promise<void>((begun) => {
          const handling = this.slots.run(() => {
            begun();
            return this.handle(delivery);
          });
          void this.tracked(handling);
        }),
    );
    await Promise.all(beginning);
  }

  private tracked(handling: Promise<void>): Promise<void> {
    this.underWay.add(handling);
    return handling.finally(() => this.underWay.delete(handling));
  }

  private async handle(job: DeliveryJob): Promise<void> {
    let result: RunResult = { backlog: false, outcome: 'idle' };
    try {
      result = await this.runner.run(job);
    } catch (error) {
      // PostgreSQL has the delivery: its claim ends, and it is fed again.
      this.count('interrupted');
      this.log.error({ err: error, delivery: job.id }, 'attempt was interrupted');
      return;
    }
    this.count(result.outcome);
    if (result.made) this.measure(result.made);
    if (this.config.LOG_EVENTS === 'all') {
      this.log.info({ delivery: job.id, attempt: job.attempt, outcome: result.outcome }, 'attempt');
    }
    if (result.backlog && result.outcome !== 'released' && result.webhookId !== undefined) {
      this.feeder.finished(result.webhookId, result.outcome === 'failed');
    }
  }

  private measure({ delivery, attempt, conclusion }: NonNullable<RunResult['made']>): void {
    const isFirst = delivery.attempt === 1;
    const delayMs = delivery.takenAt.getTime() - delivery.createdAt.getTime();
    this.metrics.attempted(attempt, isFirst ? delayMs : undefined);
    if (conclusion.state !== 'pending') this.metrics.ended(conclusion.state);
  }

  private count(outcome: string): void {
    this.counts.set(outcome, (this.counts.get(outcome) ?? 0) + 1);
    this.timer ??= setTimeout(() => this.summarise(), SUMMARY_MS).unref();
  }

  private summarise(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.counts.size === 0) return;
    this.log.info({ outcomes: Object.fromEntries(this.counts) }, 'attempts');
    this.counts.clear();
  }
}

async function ready(redis: RedisConnection): Promise<void> {
  if (redis.status === 'ready') return;
  await new Promise((resolve) => redis.once('ready', resolve));
}

/**
 * Of the two connections of a queue that is back, that which waits for jobs may be the first. What it
 * is given then waits for the other one: Bull would fail, and the job lie about until its claim ends.
 */
function fetchWhenReady(queue: Queue): void {
  const internals = internalsOf(queue);
  const moveToActive = internals.moveToActive.bind(queue);
  internals.moveToActive = async (jobId) => {
    await ready(queue.client);
    return moveToActive(jobId);
  };
}

/**
 * Bull reads the stack traces of every job, by a JSON.parse that fails where there are none: ours never
 * have any, and that was 3 % of a worker's time.
 */
function parseJobsCheaply(queue: Queue): void {
  const internals = internalsOf(queue);
  const nextJob = internals.nextJobFromJobData.bind(queue);
  internals.nextJobFromJobData = (data, jobId) =>
    nextJob(data && { ...data, stacktrace: '[]' }, jobId);
}

/**
 * Lets go of the connection, and of the queue: Nest closes it next, and without Redis, or while a
 * job will not end, Bull would wait there for ever.
 */
function letGo(queue: Queue): void {
  queue.client.disconnect();
  internalsOf(queue).closing = Promise.resolve();
}

/** What Bull's types leave out. */
interface QueueInternals {
  /** The blocking connection. */
  bclient: RedisConnection;
  /** While it is set, a job that is completed brings no next one; loops go on when it resolves. */
  paused?: Promise<void>;
  /** Asks for the next job of a loop. */
  getNextJob: () => Promise<unknown>;
  /** Fetches a job that the blocking connection was given, or else the next one that waits. */
  moveToActive: (jobId?: string) => Promise<unknown>;
  /** Makes a job of what Redis has of it. */
  nextJobFromJobData: (data: object | undefined, jobId?: string) => unknown;
  closing?: Promise<void>;
}

function internalsOf(queue: Queue): QueueInternals {
  return queue as unknown as QueueInternals;
}
