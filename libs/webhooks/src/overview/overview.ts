import { Inject, Injectable } from '@nestjs/common';
import {
  CONFIG,
  type Config,
  Database,
  type Process,
  Processes,
  withoutNulls,
} from '#libs/runtime';
import { BullDeliveryQueue } from '../queue/infrastructure/bull-delivery.queue.js';
import { countPending, OLDEST_DUE } from '../sending/infrastructure/due-deliveries.statements.js';
import { LIST_LOSING, type LosingSubscription } from '../subscriptions/recent-losses.js';
import { DAY_MS } from '../partitions/partition-days.js';
import { daysWithPending } from '../sending/infrastructure/pending-days.js';
import { DAYS_BEYOND, daysKept } from '../retention/retention.statements.js';
import {
  countExpiredClaims,
  countWaitingOf,
  type FailingTarget,
  LIST_FAILING,
  LIST_PARTITION_SIZES,
  NEWEST_MIGRATION,
} from './overview.statements.js';

/** A process of the installation. */
export interface ProcessShown {
  /** `host:pid:random`; a worker's attempts are recorded under it. */
  id: string;
  version: string;
  startedAt: Date;
  /** The time of its last heartbeat; it sends one every ten seconds. */
  seenAt: Date;
  /** Whether that was at most 35 seconds ago. */
  isAlive: boolean;
  /** Of one core, since the previous heartbeat; absent from a process of an earlier version. */
  cpuPercent?: number;
  /** The resident set; absent from a process of an earlier version. */
  memoryBytes?: number;
}

/** The state of the whole installation. */
export interface InstallationState {
  /** Unfinished deliveries. */
  pending: number;
  /** How long the oldest due delivery has waited, in seconds; absent if none is due and unclaimed. */
  oldestDueS?: number;
  /** Deliveries whose lease ended without an outcome, among `lookedAt` pending ones. */
  expiredClaims: number;
  lookedAt: number;
  workers: (ProcessShown & Pick<Process, 'inFlight' | 'hold'>)[];
  apis: ProcessShown[];
  /** Jobs by shard; absent while Redis is away. */
  queues?: { waiting: number; active: number }[];
  /** Bytes by day, newest first; up to a minute old. */
  partitions: { day: string; events: number; deliveries: number; attempts: number }[];
  retention: { days: number; nextDay?: string; nextAt?: Date };
  /** Subscriptions whose targets have failed for the longest time. */
  failing: FailingTarget[];
  /** Subscriptions that have lost the most notifications in the last 24 hours. */
  losing: LosingSubscription[];
  /** The newest migration. */
  schemaVersion: string;
}

/** A cached read: concurrent callers share it, and it is repeated once the result is too old. */
export class SharedRead<Result> {
  private result: Promise<Result> | undefined;
  private readAt = -Infinity;

  constructor(
    private readonly maxAgeMs: number,
    private readonly read: () => Promise<Result>,
  ) {}

  get(): Promise<Result> {
    if (!this.result || performance.now() - this.readAt > this.maxAgeMs) {
      // Shared however long it takes, because concurrent reads would only be slower.
      this.readAt = Infinity;
      this.result = this.readNow();
    }
    return this.result;
  }

  private async readNow(): Promise<Result> {
    let readAt = -Infinity;
    try {
      const result = await this.read();
      readAt = performance.now();
      return result;
    } finally {
      this.readAt = readAt;
    }
  }
}

/** How old an answer may be, because it takes several queries for each day with pending deliveries. */
const STATE_MS = 2_000;
/** How old its partitions may be, because PostgreSQL asks the file system for the size of each file. */
const PARTITIONS_MS = 60_000;
const SUBSCRIPTIONS_SHOWN = 20;

type Partitions = InstallationState['partitions'];

/** Shows operators the state of the installation, from PostgreSQL and the queues. */
@Injectable()
export class Overview {
  private readonly state = new SharedRead(STATE_MS, () => this.readState());
  private readonly partitions = new SharedRead(PARTITIONS_MS, () => this.readPartitions());

  constructor(
    private readonly database: Database,
    private readonly processes: Processes,
    private readonly queue: BullDeliveryQueue,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** At most a few seconds old, unless it says otherwise. */
  show(): Promise<InstallationState> {
    return this.state.get();
  }

  private async readState(): Promise<InstallationState> {
    const targets = await this.database.run(LIST_FAILING, { limit: SUBSCRIPTIONS_SHOWN });
    const { waiting, ...backlog } = await this.backlog(targets.map(({ webhookId }) => webhookId));
    const partitions = await this.partitions.get();
    const processes = await this.processes.list();
    const queues = await this.queue.jobsByShard().catch(() => undefined);
    const [migration] = await this.database.run(NEWEST_MIGRATION);
    const workers = processes.filter(({ kind }) => kind === 'worker');
    return {
      ...backlog,
      workers: workers.map(({ inFlight, hold, ...one }) => ({
        ...shown(one),
        inFlight,
        ...(hold && { hold }),
      })),
      apis: processes.filter(({ kind }) => kind === 'api').map(shown),
      ...(queues && { queues }),
      partitions,
      retention: await this.retention(partitions),
      failing: targets.map((target) => ({
        ...withoutNulls<Omit<FailingTarget, 'waiting'>>(target),
        waiting: waiting.get(target.webhookId) ?? 0,
      })),
      losing: await this.database.run(LIST_LOSING, { limit: SUBSCRIPTIONS_SHOWN }),
      schemaVersion: migration?.name ?? '',
    };
  }

  /** @param failing the subscriptions whose waiting deliveries are counted */
  private async backlog(failing: string[]) {
    const waiting = new Map<string, number>();
    let [pending, oldestDueMs, expiredClaims, lookedAt] = [0, 0, 0, 0];
    for (const day of await daysWithPending(this.database.run)) {
      const [count] = await this.database.run(countPending(day));
      const [oldest] = await this.database.run(OLDEST_DUE(day));
      const [claims] = await this.database.run(countExpiredClaims(day));
      for (const of of await this.database.run(countWaitingOf(day), { webhookIds: failing })) {
        waiting.set(of.webhookId, (waiting.get(of.webhookId) ?? 0) + of.waiting);
      }
      pending += count?.deliveries ?? 0;
      oldestDueMs = Math.max(oldestDueMs, oldest?.ageMs ?? 0);
      expiredClaims += claims?.expired ?? 0;
      lookedAt += claims?.lookedAt ?? 0;
    }
    return {
      pending,
      ...(oldestDueMs > 0 && { oldestDueS: Math.round(oldestDueMs / 1_000) }),
      expiredClaims,
      lookedAt,
      waiting,
    };
  }

  private async readPartitions(): Promise<Partitions> {
    const byDay = new Map<string, Partitions[number]>();
    for (const { day, parent, bytes } of await this.database.run(LIST_PARTITION_SIZES)) {
      const sizes = byDay.get(day) ?? { day, events: 0, deliveries: 0, attempts: 0 };
      byDay.set(day, { ...sizes, [parent]: bytes });
    }
    return [...byDay.values()].sort((one, other) => (one.day < other.day ? 1 : -1));
  }

  private async retention(partitions: Partitions): Promise<InstallationState['retention']> {
    const days = await daysKept(this.database.run, this.config.RETENTION_DAYS);
    const nextDay = partitions.at(-1)?.day;
    if (nextDay === undefined) return { days };
    return {
      days,
      nextDay,
      nextAt: new Date(Date.parse(nextDay) + (days + DAYS_BEYOND) * DAY_MS),
    };
  }
}

function shown(process: Omit<Process, 'inFlight' | 'hold'>): ProcessShown {
  const { id, version, startedAt, seenAt, isAlive, cpuPercent, memoryBytes } = process;
  return withoutNulls<ProcessShown>({
    ...{ id, version, startedAt, seenAt, isAlive },
    ...{ cpuPercent, memoryBytes },
  });
}
