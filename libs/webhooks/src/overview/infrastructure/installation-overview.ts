import { Inject, Injectable } from '@nestjs/common';
import {
  CONFIG,
  type Config,
  Database,
  type Process,
  Processes,
  withoutNulls,
} from '#libs/runtime';
import { BullDeliveryQueue } from '../../deliveries/infrastructure/bull-delivery.queue.js';
import {
  countPending,
  findPendingDays,
  OLDEST_DUE,
} from '../../deliveries/infrastructure/due-deliveries.statements.js';
import { type Day, DAY_MS } from '../../deliveries/infrastructure/partition-days.js';
import { daysAtOnce, daysOf } from '../../deliveries/infrastructure/partition-walk.js';
import { KEPT_DAYS } from '../../deliveries/infrastructure/retention.statements.js';
import {
  type FailingTarget,
  type InstallationState,
  Overview,
  type ProcessShown,
} from '../domain/overview.js';
import {
  countExpiredClaims,
  LIST_FAILING,
  LIST_PARTITION_SIZES,
  NEWEST_MIGRATION,
} from './overview.statements.js';

/** How long an answer is used, because it costs some queries for each day with pending deliveries. */
const CACHED_MS = 2_000;
const FAILING_SHOWN = 20;
/** A day's partitions go this long after its end: a day for deliveries to expire, and one to end. */
const DAYS_BEYOND = 2;

type Partitions = InstallationState['partitions'];

/** Reads the state from PostgreSQL and the queues. */
@Injectable()
export class InstallationOverview extends Overview {
  private shown: Promise<InstallationState> | undefined;
  private shownAt = -Infinity;

  constructor(
    private readonly database: Database,
    private readonly processes: Processes,
    private readonly queue: BullDeliveryQueue,
    @Inject(CONFIG) private readonly config: Config,
  ) {
    super();
  }

  override show(): Promise<InstallationState> {
    if (!this.shown || performance.now() - this.shownAt > CACHED_MS) {
      // However long it takes, it is shared: more reads at once would only be slower.
      this.shownAt = Infinity;
      this.shown = this.read().then(
        (state) => {
          this.shownAt = performance.now();
          return state;
        },
        (error: unknown) => {
          this.shownAt = -Infinity;
          throw error;
        },
      );
    }
    return this.shown;
  }

  private async read(): Promise<InstallationState> {
    const backlog = await this.backlog();
    const partitions = await this.partitions();
    const processes = await this.processes.list();
    const queues = await this.queue.jobsByShard().catch(() => undefined);
    const failing = await this.database.run(LIST_FAILING, { limit: FAILING_SHOWN });
    const [migration] = await this.database.run(NEWEST_MIGRATION);
    const workers = processes.filter(({ kind }) => kind === 'worker');
    return {
      ...backlog,
      workers: workers.map((one) => ({ ...shown(one), inFlight: one.inFlight })),
      apis: processes.filter(({ kind }) => kind === 'api').map(shown),
      ...(queues && { queues }),
      partitions,
      retention: await this.retention(partitions),
      failing: failing.map(withoutNulls<FailingTarget>),
      schemaVersion: migration?.name ?? '',
    };
  }

  private async backlog() {
    let [pending, oldestDueMs, expiredClaims, lookedAt] = [0, 0, 0, 0];
    for (const day of await this.pendingDays()) {
      const [count] = await this.database.run(countPending(day));
      const [oldest] = await this.database.run(OLDEST_DUE(day));
      const [claims] = await this.database.run(countExpiredClaims(day));
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
    };
  }

  private async pendingDays(): Promise<Day[]> {
    const all = await daysOf(this.database.run, 'deliveries');
    const atOnce = daysAtOnce('deliveries');
    const found: Day[] = [];
    for (let place = 0; place < all.length; place += atOnce) {
      const rows = await this.database.run(findPendingDays(all.slice(place, place + atOnce)));
      found.push(...rows.map(({ day }) => day));
    }
    return found;
  }

  private async partitions(): Promise<Partitions> {
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

function shown({ id, version, startedAt, seenAt, isAlive }: Process): ProcessShown {
  return { id, version, startedAt, seenAt, isAlive };
}
