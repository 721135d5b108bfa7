import { Injectable } from '@nestjs/common';
import { BackgroundTasks, Database, GroupCommit } from '#libs/runtime';
import { DeliveryRunner, type RunResult } from '../domain/delivery-runner.js';
import { type DueClaim, DueSchedule, type DueWork } from '../domain/due-schedule.js';
import { type LeasedDelivery, PendingDeliveries } from '../domain/pending-deliveries.js';
import { DeliveriesUnderWay } from './deliveries-under-way.js';
import { type Day, dayOf } from './partition-days.js';
import { CLEAR_BACKLOG, LOOK, type LookRow, MARK_BACKLOG } from './due-deliveries.statements.js';
import { PendingDays } from './pending-days.js';

/** How often a worker looks for what is due, and the part of the time that this may take. */
const LOOKS = { everyMs: 500, share: 0.05 };
/** Subscriptions that a look goes through; the next one goes on where it ended. */
const LOOKED_AT = 500;
/** Where looks begin once more when they have been everywhere. */
const NEWEST = { day: Infinity, after: '0' };
/** Picking what to claim takes no more than this part of the time while it finds nothing. */
const PICK_SHARE = 0.1;
/** How long it waits for a place to be given back before it tries once more, ms: what is slow may change by itself. */
const FULL_MS = 100;
/** When a subscription whose mark is lifted is asked once more, ms. */
const SOON_MS = 20;
/** The pause after a claim that failed, ms. */
const PAUSE_MS = 500;

/**
 * The way of all deliveries that did not come from the queue: retries, backlogs, what a lost job or a
 * dead worker left. Each worker claims them from PostgreSQL when it has slots for them, and no more. It
 * knows by looks, and by what it did itself, which subscriptions have something due.
 */
@Injectable()
export class DueDeliveries {
  private readonly schedule = new DueSchedule();
  private readonly marking: GroupCommit<string, undefined>;
  private timer: NodeJS.Timeout | undefined;
  private claiming: Promise<void> | undefined;
  /** Where the next look begins. */
  private place = NEWEST;
  private restsUntil = 0;
  private fullUntil = 0;
  private stopping = false;

  constructor(
    private readonly database: Database,
    private readonly pending: PendingDeliveries,
    private readonly runner: DeliveryRunner,
    private readonly underWay: DeliveriesUnderWay,
    private readonly days: PendingDays,
    tasks: BackgroundTasks,
  ) {
    tasks.add('due-deliveries', LOOKS, () => this.look());
    this.marking = new GroupCommit<string, undefined>(async (webhookIds) => {
      await this.database.run(MARK_BACKLOG, { webhookIds: [...new Set(webhookIds)] });
      return [];
    });
    this.runner.slots.onRoom = () => {
      this.fullUntil = 0;
      this.wake();
    };
  }

  /** What is claimed while this ends is given back: the runner sends nothing any more. */
  async stop(): Promise<void> {
    this.stopping = true;
    clearTimeout(this.timer);
    await this.claiming;
  }

  /** What follows from the end of a delivery in this worker: its retry, or that it is due again. */
  follow(result: RunResult | undefined): void {
    if (result?.outcome === 'released') {
      this.note(result, { dueInMs: 0 });
      if (!this.stopping && !result.delivery.immediate) this.mark(result.delivery.webhookId);
    } else if (result?.outcome === 'failed' && result.conclusion.state === 'pending') {
      const { delayMs } = result.conclusion;
      this.note(result, { dueInMs: delayMs, oldestInMs: delayMs });
    }
  }

  /** Others of its subscription wait in PostgreSQL: this came before them. */
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

  /** What is accepted from now on waits in PostgreSQL as well, until nothing else does. */
  private mark(webhookId: string): void {
    this.marking.one(webhookId).catch(() => undefined);
  }

  private async look(): Promise<void> {
    const { day: from, after } = this.place;
    const days = await this.days.all(this.schedule.days());
    let left = LOOKED_AT;
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
        this.place = { day, after: last.webhook_id };
        return;
      }
      left -= rows.filter(({ tests }) => !tests).length;
    }
    this.place = NEWEST;
  }

  /** Claims what it can start, unless that is under way; else sees to it that it is woken. */
  private wake(): void {
    if (this.claiming || this.stopping) return;
    const waitsUntil = Math.max(this.restsUntil, this.fullUntil);
    const inMs = Math.max(this.schedule.dueInMs, waitsUntil - performance.now());
    clearTimeout(this.timer);
    if (inMs === Infinity) return;
    if (inMs > 0) {
      this.timer = setTimeout(() => this.wake(), Math.min(inMs, LOOKS.everyMs));
      return;
    }
    this.claiming = this.claimAll().then(() => {
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
      const together = new Map<string, DueClaim[]>();
      for (const claim of claims) {
        const key = `${String(claim.day)} ${String(claim.tests)}`;
        together.set(key, [...(together.get(key) ?? []), claim]);
      }
      await Promise.all([...together.values()].map((ofDay) => this.claim(ofDay)));
      if (performance.now() < this.restsUntil) return;
    }
  }

  private pick(): DueClaim[] {
    const { slots } = this.runner;
    if (slots.free <= 0) return [];
    return this.schedule.pick(({ webhookId, accountId, tests }, most) => {
      if (tests) return slots.holdTest(webhookId, accountId) ? 1 : 0;
      return slots.isHungry(webhookId) ? slots.hold(webhookId, accountId, most) : 0;
    });
  }

  private async claim(claims: readonly DueClaim[]): Promise<void> {
    const begunAt = performance.now();
    const [{ day, tests }] = claims as [DueClaim];
    const leased = await this.pending.claim(day, claims, { tests }).catch(() => undefined);
    if (!leased) {
      // Looks report what is wrong. What was leased all the same is due when its lease ends.
      for (const claim of claims) this.giveBack(claim, claim.most);
      this.restsUntil = performance.now() + PAUSE_MS;
      return;
    }
    const drained: DueClaim[] = [];
    for (const claim of claims) {
      const deliveries = leased.filter(({ webhookId }) => webhookId === claim.webhookId);
      this.giveBack(claim, claim.most - deliveries.length);
      this.schedule.claimed(claim, deliveries.length, begunAt);
      const isMarked = deliveries.every(({ subscription }) => subscription.backlog);
      if (isMarked && deliveries.length < claim.most) drained.push(claim);
      for (const delivery of deliveries) void this.run(delivery);
    }
    void this.clear(drained).catch(() => undefined);
  }

  private async run(delivery: LeasedDelivery): Promise<void> {
    this.follow(await this.underWay.run(delivery.id, () => this.runner.run(delivery)));
  }

  private giveBack({ webhookId, accountId, tests }: DueClaim, places: number): void {
    if (places === 0) return;
    if (tests) this.runner.slots.releaseTest(webhookId, accountId);
    else this.runner.slots.release(webhookId, accountId, places);
  }

  /** Nothing of these waits any more: what is accepted for them may go onto the queue. */
  private async clear(claims: readonly DueClaim[]): Promise<void> {
    if (claims.length === 0) return;
    const webhookIds = claims.map(({ webhookId }) => webhookId);
    const rows = await this.database.run(CLEAR_BACKLOG, { webhookIds });
    const cleared = new Set(rows.map(({ id }) => id));
    // What was accepted until then waits as well.
    for (const claim of claims) {
      if (cleared.has(claim.webhookId)) this.schedule.note({ ...claim, dueInMs: SOON_MS });
    }
    this.wake();
  }
}

function workOf(day: Day, row: LookRow): DueWork[] {
  const { webhook_id: webhookId, account_id: accountId, probe, tests } = row;
  if (accountId === null) return [];
  const { due_in_ms: dueInMs, oldest_in_ms: oldestInMs } = row;
  return [{ webhookId, accountId, day, dueInMs, oldestInMs, probe, tests }];
}
