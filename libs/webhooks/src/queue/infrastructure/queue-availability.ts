import { Inject, Injectable } from '@nestjs/common';
import Bull, { type Queue } from 'bull';
import {
  Log,
  Metrics,
  OutageLog,
  type RedisConnection,
  RedisHealth,
  refusalOf,
} from '#libs/runtime';
import { addJob, DELIVERY_QUEUES, queueOptions } from '../delivery-queues.js';
import { JobTaker } from '../job-taker.js';

/** How soon Redis is tried again after it has failed. */
const AGAIN_MS = 1_000;
/** How long a probe waits for its job, in s: the probe of another process may have taken it. */
const WAIT_S = 0.01;
const JOB_ID = 'probe';

/** Why a connection is lost without an error: the server stops, for example. */
const CLOSED = new Error('the connection was closed');

/**
 * Whether Redis does what the queues need. A Redis that answers may still refuse it, so the outcomes of commands decide:
 * after a failed one, Redis is not used until a probe has succeeded.
 */
@Injectable()
export class QueueAvailability extends RedisHealth {
  private readonly clients: readonly RedisConnection[];
  private readonly probes: readonly QueueProbe[];
  private readonly outages: OutageLog;
  private readonly errors;
  private isFailing = false;
  private probing: Promise<void> | undefined;
  private again: NodeJS.Timeout | undefined;

  constructor(@Inject(DELIVERY_QUEUES) queues: readonly Queue[], metrics: Metrics, log: Log) {
    super();
    this.outages = new OutageLog('Redis', log);
    this.errors = metrics.counter(
      'switchhook_redis_errors_total',
      'Errors of Redis connections and queue commands.',
    );
    for (const queue of queues) {
      queue.on('error', (error) => {
        if (refusalOf(error)) this.failed(error);
        else this.errors.inc();
      });
    }
    // Bull connects on first access to its client. Connect now, before the first event arrives.
    this.clients = queues.map((queue) => queue.client);
    this.probes = this.clients.map((client, shard) => new QueueProbe(client, shard));
    for (const client of this.clients) this.watch(client);
  }

  /** Whether commands are likely to succeed. */
  get isUp(): boolean {
    return this.isConnected && !this.isFailing;
  }

  /** Reports a failed command of a queue. */
  failed(error: unknown): void {
    this.errors.inc();
    this.isFailing = true;
    this.outages.away(refusalOf(error)?.cause ?? error);
    this.again ??= setTimeout(() => {
      this.again = undefined;
      this.probeIfConnected();
    }, AGAIN_MS).unref();
  }

  /** Concurrent callers share a probe. */
  override async check(): Promise<void> {
    if (!this.isConnected) throw CLOSED;
    this.probing ??= this.probe().finally(() => {
      this.probing = undefined;
    });
    await this.probing;
  }

  private async probe(): Promise<void> {
    try {
      await Promise.all(this.probes.map((probe) => probe.run()));
    } catch (error) {
      this.failed(error);
      throw refusalOf(error) ?? error;
    }
    this.isFailing = false;
    this.outages.back();
  }

  private probeIfConnected(): void {
    // check() has reported a failure. A new connection is probed, too.
    if (this.isConnected) void this.check().catch(() => undefined);
  }

  private get isConnected(): boolean {
    return this.clients.every(({ status }) => status === 'ready');
  }

  private watch(client: RedisConnection): void {
    let cause = CLOSED;
    client.on('error', (error: Error & { lastNodeError?: Error }) => {
      // A cluster's own error only says that no node has answered.
      cause = error.lastNodeError ?? error;
    });
    client.on('reconnecting', () => this.outages.away(cause));
    client.on('ready', () => {
      cause = CLOSED;
      this.probeIfConnected();
    });
  }
}

/** Does what a queue needs to a queue beside it, in the same slot of a cluster. */
class QueueProbe {
  private readonly queue: Queue;
  private readonly taker: JobTaker;

  constructor(
    private readonly client: RedisConnection,
    shard: number,
  ) {
    this.queue = new Bull(
      'probe',
      queueOptions(shard, () => client),
    );
    this.taker = new JobTaker(this.queue, client);
  }

  /** @throws the error of a command that failed */
  async run(): Promise<void> {
    try {
      // At once, because a slow Redis must not count as one that is away.
      await Promise.all([
        this.addAndTake(),
        this.queue.getJobCounts(),
        this.queue.clean(0, 'active'),
      ]);
    } finally {
      const keys = ['wait', 'active', 'id', JOB_ID].map((key) => this.queue.toKey(key));
      void this.client.del(keys).catch(() => undefined);
    }
  }

  private async addAndTake(): Promise<void> {
    await addJob(this.queue, JOB_ID);
    await this.taker.next(WAIT_S);
    await this.taker.takeMore(0);
  }
}
