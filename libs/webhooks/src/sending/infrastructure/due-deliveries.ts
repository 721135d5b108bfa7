import { Injectable } from '@nestjs/common';
import { BackgroundTasks, Database, GroupCommit, Log } from '#libs/runtime';
import { DeliveryRunner, type RunResult } from '../domain/delivery-runner.js';
import { DeliverySlots } from '../domain/delivery-slots.js';
import type { Slot } from '../domain/slot.js';
import { DueSchedule, type DueWork, type SlottedClaim } from '../domain/due-schedule.js';
import {
  holdsPlace,
  type LeasedDelivery,
  PendingDeliveries,
} from '../domain/pending-deliveries.js';
import { DeliveriesInFlight } from './deliveries-in-flight.js';
import { type Day, dayOf } from '../../partitions/partition-days.js';
import { CLEAR_BACKLOG, LOOK, type LookRow, MARK_BACKLOG } from '../due-deliveries.statements.js';
import { PendingDays } from '../pending-days.js';

/** How often a worker scans for due deliveries, and the share of its time that this may take. */
const SCANS = { everyMs: 500, share: 0.05 };
/** Subscriptions in one scan. The next scan continues where it ended. */
const SCAN_LIMIT = 500;
/** Where scans start again after reaching the end. */
const NEWEST = { day: Infinity, after: '0' };
/** Share of the time for choosing claims while none is found. */
const PICK_SHARE = 0.1;
/** Longest wait for a free slot, in ms: limits of slow subscriptions change over time. */
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
  private awaitsSlot = false;
  private stopping = false;

  constructor(
    private readonly database: Database,
    private readonly pending: PendingDeliveries,
    private readonly slots: DeliverySlots,
    private readonly runner: DeliveryRunner,
    private readonly inFlight: DeliveriesInFlight,
    private readonly days: PendingDays,
    private readonly log: Log,
    tasks: BackgroundTasks,
  ) {
    tasks.add('due-deliveries', SCANS, () => this.scan());
    this.marking = new GroupCommit<string, undefined>(async (webhookIds) => {
      await this.database.run(MARK_BACKLOG, { webhookIds: [...new Set(webhookIds)] });
      return [];
    });
  }

  /** Claims no more. What a claim still under way leases is released, because no slot starts a call any more. */
  async stop(): Promise<void> {
    this.stopping = true;
    clearTimeout(this.timer);
    await this.claiming;
  }

  /** How long the oldest due delivery has waited that a free slot could start, in ms: its subscription has room. */
  longestStartableMs(): number {
    if (this.slots.isHeld) return 0;
    return this.schedule.longestWaitMs(({ webhookId }) => this.slots.wantsMore(webhookId));
  }

  /** Schedules a delivery that this worker has run, if it is due again: at once, or for a retry. */
  addRetry(result: RunResult | undefined): void {
    if (result?.outcome === 'released') {
      const { delivery } = result;
      this.add(delivery, { dueInMs: 0 });
      const { immediate, subscription } = delivery;
      if (!this.stopping && !immediate && subscription.pace === null) this.mark(delivery);
    } else if (result?.outcome === 'failed' && result.conclusion.state === 'pending') {
      const { delayMs, resumes } = result.conclusion;
      // Only the row says when the schedule goes on, so a scan finds it.
      if (resumes === true) return;
      const isPaced = result.delivery.subscription.pace !== null;
      // Earlier ones may be due that exceeded the pace.
      this.add(result.delivery, { dueInMs: delayMs, ...(!isPaced && { oldestInMs: delayMs }) });
    }
  }

  /** Schedules those that waited for this delivery to end, because of the pace. */
  private addNext(delivery: LeasedDelivery, result: RunResult | undefined): void {
    const isRetried = result && 'conclusion' in result && result.conclusion.state === 'pending';
    // In an ordered subscription, the others wait for its retry, too.
    if (delivery.subscription.pace === 'order' && isRetried) return;
    if (holdsPlace(delivery)) this.add(delivery, { dueInMs: 0 });
  }

  /** Schedules the other deliveries of a subscription with a backlog, which are in PostgreSQL. */
  addBacklog(delivery: LeasedDelivery): void {
    this.add(delivery, { dueInMs: 0 });
  }

  private add(delivery: LeasedDelivery, due: Pick<DueWork, 'dueInMs' | 'oldestInMs'>): void {
    const { id, webhookId, event, immediate, subscription } = delivery;
    const { pace } = subscription;
    this.schedule.add({
      ...{ webhookId, accountId: event.accountId, day: dayOf(id), immediate, pace },
      // Claimed as the first in order, so all others are at least as new.
      ...(pace === 'order' && { oldestInMs: -ageOf(delivery) }),
      ...due,
    });
    this.wake();
  }

  /**
   * Makes new deliveries wait in PostgreSQL, too, until the backlog is empty. It may be empty before the flag
   * is set, so another claim follows, which clears the flag.
   */
  private mark(delivery: LeasedDelivery): void {
    this.marking.one(delivery.webhookId).then(
      () => this.addBacklog(delivery),
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
      this.schedule.addFound(
        rows.flatMap((row) => workOf(day, row)),
        begunAt,
      );
      this.wake();
      const last = rows.find(({ number }) => number === left);
      if (last) {
        this.position = { day, after: last.webhookId };
        return;
      }
      left -= rows.filter(({ immediate }) => !immediate).length;
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
        if (this.schedule.dueInMs === 0) this.waitForSlot(now);
        return;
      }
      const together = new Map<string, SlottedClaim[]>();
      for (const claim of claims) {
        const key = `${String(claim.day)} ${String(claim.immediate)} ${String(claim.pace !== null)}`;
        together.set(key, [...(together.get(key) ?? []), claim]);
      }
      await Promise.all([...together.values()].map((ofDay) => this.claim(ofDay)));
      if (performance.now() < this.restsUntil) return;
    }
  }

  private pick(): SlottedClaim[] {
    const { slots } = this;
    if (slots.free <= 0) return [];
    return this.schedule.pick((work, most) =>
      work.immediate || slots.wantsMore(work.webhookId) ? slots.acquire(work, most) : [],
    );
  }

  /** Delays the next claim until a slot is released. */
  private waitForSlot(now: number): void {
    this.fullUntil = now + FULL_MS;
    if (this.awaitsSlot) return;
    this.awaitsSlot = true;
    void this.slots.released().then(() => {
      this.awaitsSlot = false;
      this.fullUntil = 0;
      this.wake();
    });
  }

  /** Claims deliveries and starts them. Releases the slots that none of them takes over. */
  private async claim(claims: readonly SlottedClaim[]): Promise<void> {
    const begunAt = performance.now();
    try {
      // Scans report errors. A delivery that was leased nevertheless is due when its lease ends.
      const leased = await this.pending.claim(claims).catch(() => undefined);
      if (leased) this.start(claims, leased, begunAt);
      else this.restsUntil = performance.now() + PAUSE_MS;
    } finally {
      for (const { slots } of claims) for (const slot of slots) slot.release();
    }
  }

  private start(
    claims: readonly SlottedClaim[],
    leased: readonly LeasedDelivery[],
    begunAt: number,
  ): void {
    const drained: SlottedClaim[] = [];
    for (const claim of claims) {
      const deliveries = leased.filter(({ webhookId }) => webhookId === claim.webhookId);
      const pacedMs = deliveries[0]?.subscription.pacedMs;
      this.schedule.recordClaim(claim, deliveries.length, begunAt, pacedMs);
      const isMarked = deliveries.every(({ subscription }) => subscription.backlog);
      if (isMarked && claim.pace === null && deliveries.length < claim.most) drained.push(claim);
      for (const delivery of deliveries) void this.run(delivery, claim.slots.pop()!);
    }
    void this.clear(drained).catch(() => undefined);
  }

  private async run(delivery: LeasedDelivery, slot: Slot): Promise<void> {
    const result = await this.inFlight.run(delivery.id, () => this.runner.run(delivery, slot));
    this.addRetry(result);
    this.addNext(delivery, result);
  }

  /** Clears the backlog flags, so that new deliveries may go onto the queue. */
  private async clear(claims: readonly SlottedClaim[]): Promise<void> {
    if (claims.length === 0) return;
    const webhookIds = claims.map(({ webhookId }) => webhookId);
    const rows = await this.database.run(CLEAR_BACKLOG, { webhookIds });
    const marked = new Set(rows.map(({ id }) => id));
    // Deliveries accepted before the flag was cleared wait in PostgreSQL, too, and a locked row keeps its flag.
    for (const claim of claims) {
      if (marked.has(claim.webhookId)) this.schedule.add({ ...claim, dueInMs: SOON_MS });
    }
    this.wake();
  }
}

/** ms since the delivery was created, by PostgreSQL's clock until it was leased. */
function ageOf({ createdAt, takenAt, leasedAt }: LeasedDelivery): number {
  return takenAt.getTime() - createdAt.getTime() + performance.now() - leasedAt;
}

function workOf(day: Day, { accountId, ...work }: LookRow): DueWork[] {
  return accountId === null ? [] : [{ ...work, accountId, day }];
}
