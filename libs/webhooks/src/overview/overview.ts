import { Injectable } from '@nestjs/common';
import { Database, type Process, Processes, withoutNulls } from '#libs/runtime';
import { BullDeliveryQueue } from '../queue/bull-delivery.queue.js';
import { countPending, OLDEST_DUE } from '../sending/due-deliveries.statements.js';
import { LIST_LOSING } from '../subscriptions/recent-losses.js';
import { DAY_MS } from '../partitions/partition-days.js';
import { daysWithPending } from '../sending/pending-days.js';
import { DAYS_BEYOND, KEPT_DAYS } from '../retention/retention.statements.js';
import {
  countExpiredClaims,
  countWaitingOf,
  type FailingTarget,
  LIST_FAILING,
  LIST_PARTITION_SIZES,
  NEWEST_MIGRATION,
} from './overview.statements.js';

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

/** Bytes of the stored data of a day. */
interface PartitionSizes {
  day: string;
  events: number;
  deliveries: number;
  attempts: number;
}

/** Shows operators the state of the installation, from PostgreSQL and the queues. Its description says what each part is. */
@Injectable()
export class Overview {
  private readonly state = new SharedRead(STATE_MS, () => this.readState());
  private readonly partitions = new SharedRead(PARTITIONS_MS, () => this.readPartitions());

  constructor(
    private readonly database: Database,
    private readonly processes: Processes,
    private readonly queue: BullDeliveryQueue,
  ) {}

  /** At most a few seconds old, unless it says otherwise. */
  show(): Promise<object> {
    return this.state.get();
  }

  private async readState() {
    const targets = await this.database.run(LIST_FAILING, { limit: SUBSCRIPTIONS_SHOWN });
    const { waiting, ...backlog } = await this.backlog(targets.map(({ webhookId }) => webhookId));
    const partitions = await this.partitions.get();
    const processes = await this.processes.list();
    const queues = await this.queue.jobsByShard().catch(() => undefined);
    const [migration] = await this.database.run(NEWEST_MIGRATION);
    return {
      ...backlog,
      workers: processes
        .filter(({ kind }) => kind === 'worker')
        .map((worker) => ({ ...shown(worker), inFlight: worker.inFlight, hold: worker.hold })),
      apis: processes.filter(({ kind }) => kind === 'api').map(shown),
      queues,
      partitions,
      retention: await this.retention(partitions),
      failing: targets.map((target) => ({
        ...withoutNulls<FailingTarget>(target),
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
      oldestDueS: oldestDueMs > 0 ? Math.round(oldestDueMs / 1_000) : undefined,
      expiredClaims,
      lookedAt,
      waiting,
    };
  }

  private async readPartitions(): Promise<PartitionSizes[]> {
    const byDay = new Map<string, PartitionSizes>();
    for (const { day, parent, bytes } of await this.database.run(LIST_PARTITION_SIZES)) {
      const sizes = byDay.get(day) ?? { day, events: 0, deliveries: 0, attempts: 0 };
      byDay.set(day, { ...sizes, [parent]: bytes });
    }
    return [...byDay.values()].sort((one, other) => (one.day < other.day ? 1 : -1));
  }

  private async retention(partitions: readonly PartitionSizes[]) {
    const [{ days } = { days: 0 }] = await this.database.run(KEPT_DAYS);
    const nextDay = partitions.at(-1)?.day;
    if (nextDay === undefined) return { days };
    const nextMs = Date.parse(nextDay) + (days + DAYS_BEYOND) * DAY_MS;
    return { days, nextDay, nextAt: new Date(nextMs) };
  }
}

/** What the API shows of every process. One of an earlier version has neither of the last two. */
function shown({ id, version, startedAt, seenAt, isAlive, cpuPercent, memoryBytes }: Process) {
  const used = { cpuPercent: cpuPercent ?? undefined, memoryBytes: memoryBytes ?? undefined };
  return { id, version, startedAt, seenAt, isAlive, ...used };
}
