import { Inject, Injectable } from '@nestjs/common';
import {
  CONFIG,
  type Config,
  Database,
  type Process,
  Processes,
  withoutNulls,
} from '#libs/runtime';
import { BullDeliveryQueue } from '../../queue/infrastructure/bull-delivery.queue.js';
import {
  countPending,
  OLDEST_DUE,
} from '../../sending/infrastructure/due-deliveries.statements.js';
import { DAY_MS } from '../../partitions/partition-days.js';
import { daysWithPending } from '../../sending/infrastructure/pending-days.js';
import { KEPT_DAYS } from '../../retention/retention.statements.js';
import {
  type FailingTarget,
  type InstallationState,
  Overview,
  type ProcessShown,
} from '../domain/overview.js';
import {
  countExpiredClaims,
  countWaitingOf,
  LIST_FAILING,
  LIST_PARTITION_SIZES,
  NEWEST_MIGRATION,
} from './overview.statements.js';
import { SharedRead } from './shared-read.js';

/** How old an answer may be, because it costs some queries for each day with pending deliveries. */
const STATE_MS = 2_000;
/** How old the partitions in it may be: PostgreSQL asks the file system for the size of each of their files. */
const PARTITIONS_MS = 60_000;
const FAILING_SHOWN = 20;
/** A day's partitions go this long after its end: a day for deliveries to expire, and one to end. */
const DAYS_BEYOND = 2;

type Partitions = InstallationState['partitions'];

/** Reads the state from PostgreSQL and the queues. */
@Injectable()
export class InstallationOverview extends Overview {
  private readonly state = new SharedRead(STATE_MS, () => this.readState());
  private readonly partitions = new SharedRead(PARTITIONS_MS, () => this.readPartitions());

  constructor(
    private readonly database: Database,
    private readonly processes: Processes,
    private readonly queue: BullDeliveryQueue,
    @Inject(CONFIG) private readonly config: Config,
  ) {
    super();
  }

  override show(): Promise<InstallationState> {
    return this.state.get();
  }

  private async readState(): Promise<InstallationState> {
    const targets = await this.database.run(LIST_FAILING, { limit: FAILING_SHOWN });
    const { waiting, ...backlog } = await this.backlog(targets.map(({ webhookId }) => webhookId));
    const partitions = await this.partitions.get();
    const processes = await this.processes.list();
    const queues = await this.queue.jobsByShard().catch(() => undefined);
    const [migration] = await this.database.run(NEWEST_MIGRATION);
    const workers = processes.filter(({ kind }) => kind === 'worker');
    return {
      ...backlog,
      workers: workers.map((one) => ({ ...shown(one), inFlight: one.inFlight })),
      apis: processes.filter(({ kind }) => kind === 'api').map(shown),
      ...(queues && { queues }),
      partitions,
      retention: await this.retention(partitions),
      failing: targets.map((target) => ({
        ...withoutNulls<Omit<FailingTarget, 'waiting'>>(target),
        waiting: waiting.get(target.webhookId) ?? 0,
      })),
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
    const configured = this.config.RETENTION_DAYS;
    const [row] = await this.database.run(KEPT_DAYS, { configured });
    const days = row?.days ?? configured;
    const nextDay = partitions.at(-1)?.day;
    if (nextDay === undefined) return { days };
    return {
      days,
      nextDay,
      nextAt: new Date(Date.parse(nextDay) + (days + DAYS_BEYOND) * DAY_MS),
    };
  }
}

function shown(process: Process): ProcessShown {
  const { id, version, startedAt, seenAt, isAlive, cpuPercent, memoryBytes } = process;
  return withoutNulls<ProcessShown>({
    ...{ id, version, startedAt, seenAt, isAlive },
    ...{ cpuPercent, memoryBytes },
  });
}
