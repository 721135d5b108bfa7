import { Injectable } from '@nestjs/common';
import { BackgroundTasks, Database, GroupCommit, Log } from '#libs/runtime';
import { DeliveryRunner, type RunResult } from '../domain/delivery-runner.js';
import type { Place } from '../domain/delivery-slots.js';
import { DueSchedule, type DueWork, type HeldClaim } from '../domain/due-schedule.js';
import { type LeasedDelivery, PendingDeliveries } from '../domain/pending-deliveries.js';
import { DeliveriesUnderWay } from './deliveries-under-way.js';
import { type Day, dayOf } from '../../partitions/partition-days.js';
import { CLEAR_BACKLOG, LOOK, type LookRow, MARK_BACKLOG } from './due-deliveries.statements.js';
import { PendingDays } from './pending-days.js';

/** How often a worker scans for due deliveries, and the share of its time that this may take. */
const SCANS = { everyMs: 500, share: 0.05 };
/** Subscriptions in one scan. The next scan continues where it ended. */
const SCAN_LIMIT = 500;
/** Where scans start again after reaching the end. */
const NEWEST = { day: Infinity, after: '0' };
/** Share of the time for choosing claims while none is found. */
const PICK_SHARE = 0.1;
/** Wait for a free place before a retry, in ms: limits of slow subscriptions change over time. */
const FULL_MS = 100;
/** When a subscription is claimed again after its backlog flag was cleared, in ms. */
const SOON_MS = 20;
/** The pause after a failed claim, in ms. */
const PAUSE_MS = 500;

/**
 * Handles all deliveries that do not come from the queue: retries, backlogs, and deliveries of lost jobs
 * or dead workers. Each worker claims from PostgreSQL only as many as it has slots for. It learns from
 * scans and from its own work which subscriptions have due deliveries.
 */
@Injectable()
export class DueDeliveries {
  private readonly schedule = new DueSchedule();
  private readonly marking: GroupCommit<string, undefined>;
  private timer: NodeJS.Timeout | undefined;
  private claiming: Promise<void> | undefined;
  /** Where the next scan begins. */
  private position = NEWEST;
  private restsUntil = 0;
  private fullUntil = 0;
  private stopping = false;

  constructor(
    private readonly database: Database,
    private readonly pending: PendingDeliveries,
    private readonly runner: DeliveryRunner,
    private readonly underWay: DeliveriesUnderWay,
    private readonly days: PendingDays,
    private readonly log: Log,
    tasks: BackgroundTasks,
  ) {
    tasks.add('due-deliveries', SCANS, () => this.scan());
    this.marking = new GroupCommit<string, undefined>(async (webhookIds) => {
      await this.database.run(MARK_BACKLOG, { webhookIds: [...new Set(webhookIds)] });
      return [];
    });
    const onRoom = (): void => {
      this.fullUntil = 0;
      this.wake();
    };
    this.runner.slots.onRoom = onRoom;
  }

  /** Claims no more. A claim still under way is released, because the runner has stopped sending. */
  async stop(): Promise<void> {
    this.stopping = true;
    clearTimeout(this.timer);
    await this.claiming;
  }

  /** Notes a delivery that this worker has run and that is due again, at once or for a retry. */
  follow(result: RunResult | undefined): void {
    if (result?.outcome === 'released') {
      this.note(result, { dueInMs: 0 });
      if (!this.stopping && !result.delivery.immediate) this.mark(result.delivery);
    } else if (result?.outcome === 'failed' && result.conclusion.state === 'pending') {
      const { delayMs } = result.conclusion;
      this.note(result, { dueInMs: delayMs, oldestInMs: delayMs });
    }
  }

  /** Notes that other deliveries of the same subscription wait in PostgreSQL. */
  othersWait(delivery: LeasedDelivery): void {
    this.note({ delivery }, { dueInMs: 0 });
  }

  private note(
    { delivery }: { delivery: LeasedDelivery },
    due: Pick<DueWork, 'dueInMs' | 'oldestInMs'>,
  ): void {
    const { id, webhookId, event, immediate: tests } = delivery;
    this.schedule.note({ webhookId, accountId: event.accountId, day: dayOf(id), tests, ...due });
    this.wake();
  }

  /**
   * Makes new deliveries wait in PostgreSQL, too, until the backlog is empty. It may be empty before the flag
   * is set, so another claim follows, which clears the flag.
   */
  private mark(delivery: LeasedDelivery): void {
    this.marking.one(delivery.webhookId).then(
      () => this.othersWait(delivery),
      () => undefined,
    );
  }

  private async scan(): Promise<void> {
    const { day: from, after } = this.position;
    const days = await this.days.all(this.schedule.days());
    let left = SCAN_LIMIT;
    for (const day of days.filter((each) => each <= from)) {
      const begunAt = performance.now();
      const begin = { after: day === from ? after : '0', limit: left };
      const rows = await this.database.run(LOOK(day), begin);
      this.schedule.found(
        rows.flatMap((row) => workOf(day, row)),
        begunAt,
      );
      this.wake();
      const last = rows.find(({ number }) => number === left);
      if (last) {
        this.position = { day, after: last.webhookId };
        return;
      }
      left -= rows.filter(({ tests }) => !tests).length;
    }
    this.position = NEWEST;
  }

  /** Starts claiming if something is due and no claim is under way. Otherwise sets a timer. */
  private wake(): void {
    if (this.claiming || this.stopping) return;
    const waitsUntil = Math.max(this.restsUntil, this.fullUntil);
    const inMs = Math.max(this.schedule.dueInMs, waitsUntil - performance.now());
    clearTimeout(this.timer);
    if (inMs === Infinity) return;
    if (inMs > 0) {
      this.timer = setTimeout(() => this.wake(), Math.min(inMs, SCANS.everyMs));
      return;
    }
    this.claiming = this.claimAll()
      .catch((error: unknown) => {
        this.log.error({ err: error }, 'due deliveries were not claimed');
        this.restsUntil = performance.now() + PAUSE_MS;
      })
      .finally(() => {
        this.claiming = undefined;
        this.wake();
      });
  }

  private async claimAll(): Promise<void> {
    while (!this.stopping) {
      const begunAt = performance.now();
      const claims = this.pick();
      if (claims.length === 0) {
        const now = performance.now();
        this.restsUntil = now + (now - begunAt) / PICK_SHARE;
        if (this.schedule.dueInMs === 0) this.fullUntil = now + FULL_MS;
        return;
      }
      const together = new Map<string, HeldClaim[]>();
      for (const claim of claims) {
        const key = `${String(claim.day)} ${String(claim.tests)}`;
        together.set(key, [...(together.get(key) ?? []), claim]);
      }
      await Promise.all([...together.values()].map((ofDay) => this.claim(ofDay)));
      if (performance.now() < this.restsUntil) return;
    }
  }

  private pick(): HeldClaim[] {
    const { slots } = this.runner;
    if (slots.free <= 0) return [];
    return this.schedule.pick((work, most) =>
      work.tests || slots.wantsMore(work.webhookId) ? slots.acquire(work, most) : [],
    );
  }

  /** Claims deliveries and starts them. Ends the places that none of them takes over. */
  private async claim(claims: readonly HeldClaim[]): Promise<void> {
    const begunAt = performance.now();
    const [{ day, tests }] = claims as [HeldClaim];
    try {
      // Scans report errors. A delivery that was leased nevertheless is due when its lease ends.
      const leased = await this.pending.claim(day, claims, { tests }).catch(() => undefined);
      if (leased) this.start(claims, leased, begunAt);
      else this.restsUntil = performance.now() + PAUSE_MS;
    } finally {
      for (const { places } of claims) for (const place of places) place.end();
    }
  }

  private start(
    claims: readonly HeldClaim[],
    leased: readonly LeasedDelivery[],
    begunAt: number,
  ): void {
    const drained: HeldClaim[] = [];
    for (const claim of claims) {
      const deliveries = leased.filter(({ webhookId }) => webhookId === claim.webhookId);
      this.schedule.claimed(claim, deliveries.length, begunAt);
      const isMarked = deliveries.every(({ subscription }) => subscription.backlog);
      if (isMarked && deliveries.length < claim.most) drained.push(claim);
      for (const delivery of deliveries) void this.run(delivery, claim.places.pop()!);
    }
    void this.clear(drained).catch(() => undefined);
  }

  private async run(delivery: LeasedDelivery, place: Place): Promise<void> {
    this.follow(await this.underWay.run(delivery.id, () => this.runner.run(delivery, place)));
  }

  /** Clears the backlog flags, so that new deliveries may go onto the queue. */
  private async clear(claims: readonly HeldClaim[]): Promise<void> {
    if (claims.length === 0) return;
    const webhookIds = claims.map(({ webhookId }) => webhookId);
    const rows = await this.database.run(CLEAR_BACKLOG, { webhookIds });
    const marked = new Set(rows.map(({ id }) => id));
    // Deliveries accepted before the flag was cleared wait in PostgreSQL, too, and a locked row keeps its flag.
    for (const claim of claims) {
      if (marked.has(claim.webhookId)) this.schedule.note({ ...claim, dueInMs: SOON_MS });
    }
    this.wake();
  }
}

function workOf(day: Day, { accountId, ...work }: LookRow): DueWork[] {
  return accountId === null ? [] : [{ ...work, accountId, day }];
}
