import { Injectable } from '@nestjs/common';
import { FairScheduler } from '#libs/kernel';
import { type Attempt, SILENCE } from '../../deliveries/domain/delivery.js';
import type { DeliveryJob } from '../../queue/domain/delivery-queue.js';
import { CircuitBreaker, verdictOf } from './circuit-breaker.js';
import type { Slot } from './slot.js';
import { Hold } from './hold.js';
import { notificationBody } from '../../deliveries/domain/notification-body.js';
import {
  type Conclusion,
  holdsPlace,
  type LeasedDelivery,
  type Outcome,
  PendingDeliveries,
  RefusedOutcomeError,
} from './pending-deliveries.js';
import { Activity } from '../../activity/domain/activity.js';
import { conclusionOf } from './retries.js';
import { outcomeOf } from '../../statistics/domain/attempt-history.js';
import { signatureHeaders } from '../../subscriptions/domain/signing-key.js';
import type { Verdict } from '../../subscriptions/domain/subscription-life.js';
import {
  attemptPhases,
  knownTarget,
  ownFaultOf,
  shownRequest,
  type TargetAnswer,
  TargetClient,
  type TargetRequest,
} from './target-client.js';

/** A delivery that was sent, with its outcome. */
export interface Sent {
  outcome: 'succeeded' | 'failed';
  delivery: LeasedDelivery;
  attempt: Attempt;
  conclusion: Conclusion;
}

/** The result of a run: there was nothing left to do, the delivery is due again now, or it was sent. */
export type RunResult =
  { outcome: 'idle' } | { outcome: 'released'; delivery: LeasedDelivery } | Sent;

/** Time of an attempt beyond its timeout: the response body is read for one second. */
const BODY_MS = 1_000;
/** Time that a delivery may wait here for its call, plus time to record the outcome. */
const SPARE_MS = 3_000;
/** Of it, the time to record the outcome. */
const RECORD_MS = 1_000;
/**
 * How long a delivery keeps its slot after its call failed on our own side, so that a host without resources makes
 * fewer calls, and how long after it was claimed it is due again, in ms.
 */
const OWN_FAULT = { keepsSlotMs: 1_000, dueInMs: 5_000 };
/**
 * How long after it was claimed a delivery is due again whose outcome was refused, in ms: twice as long with each lease
 * that ended without an outcome, up to a day. It is sent again until an outcome is recorded, or it expires.
 */
const REFUSED = { firstMs: 60_000, longestMs: 86_400_000 };

/** The operator's settings for deliveries. */
export abstract class DeliverySettings {
  /** Defaults for subscriptions without a policy, in ms: response timeout and delays before retries. */
  abstract readonly timeoutMs: number;
  abstract readonly retrySchedule: readonly number[];
  abstract readonly userAgent: string;
}

/** Records an attempt as part of its event's trace. */
export abstract class AttemptTrace {
  abstract around<Result>(delivery: LeasedDelivery, work: () => Promise<Result>): Promise<Result>;
}

/** Makes one attempt of a delivery: sends it, determines the outcome and records it. */
@Injectable()
export class DeliveryRunner {
  private readonly scheduler = new FairScheduler();

  constructor(
    private readonly pending: PendingDeliveries,
    private readonly target: TargetClient,
    private readonly circuitBreaker: CircuitBreaker,
    private readonly trace: AttemptTrace,
    private readonly activity: Activity,
    private readonly settings: DeliverySettings,
    private readonly hold: Hold,
  ) {}

  /** Runs a job from the queue, and releases the slot that was reserved for it. */
  async runJob(job: DeliveryJob, slot: Slot): Promise<RunResult> {
    try {
      const delivery = await this.pending.load(job);
      if (!delivery) return { outcome: 'idle' };
      const { webhookId, event, immediate } = delivery;
      const isAssigned = slot.assign({ webhookId, accountId: event.accountId, immediate });
      return await (isAssigned ? this.run(delivery, slot) : this.release(delivery));
    } finally {
      slot.release();
    }
  }

  /** Runs a delivery, and releases its slot. @throws our own faults; the delivery is then due again later */
  async run(delivery: LeasedDelivery, slot: Slot): Promise<RunResult> {
    try {
      if (await this.mayStart(delivery, slot)) {
        return await this.trace.around(delivery, () => this.attempt(delivery, slot));
      }
    } finally {
      slot.release();
    }
    return this.release(delivery);
  }

  /** Starts no call that might outlast its lease, because another worker might repeat it. */
  private async mayStart(delivery: LeasedDelivery, slot: Slot): Promise<boolean> {
    const needed = this.timeoutOf(delivery) + BODY_MS + SPARE_MS;
    if (delivery.leaseEnds - performance.now() < needed) return false;
    if (!(await slot.start(delivery.leasedAt))) return false;
    return (
      !this.hold.isOn || this.hold.allows(knownTarget(delivery.subscription.openTarget().url).host)
    );
  }

  private async release(delivery: LeasedDelivery): Promise<RunResult> {
    await this.pending.release(delivery);
    return { outcome: 'released', delivery };
  }

  private async attempt(delivery: LeasedDelivery, slot: Slot): Promise<RunResult> {
    await this.scheduler.next(delivery.event.accountId);
    const attempt = await this.send(delivery, slot);
    if (!attempt) return this.release(delivery);
    const verdict = verdictOf(attempt, delivery.immediate);
    // Before recording the outcome, because the next probe may start once it is recorded.
    if (await this.isBlockedBy(delivery, verdict, outcomeOf(attempt))) slot.block();
    const { retrySchedule } = this.settings;
    const conclusion = conclusionOf(delivery, verdict, retrySchedule);
    const ifRestarted =
      verdict.kind === 'failed'
        ? conclusionOf(restarted(delivery), verdict, retrySchedule)
        : conclusion;
    const { id, lease, scheduleBase } = delivery;
    const isAwaited = holdsPlace(delivery);
    // Nothing waits for other records, and a batch of outcomes costs little more than one.
    if (!isAwaited) await this.scheduler.rest();
    await this.record(delivery, {
      ...{ id, lease, attempt, conclusion, scheduleBase, ifRestarted },
      holdsPlace: isAwaited,
    });
    const { accountId } = delivery.event;
    this.activity.report(accountId, { kind: 'attempt', id, number: attempt.number });
    const outcome = verdict.kind === 'succeeded' ? 'succeeded' : 'failed';
    return { outcome, delivery, attempt, conclusion };
  }

  private async record(delivery: LeasedDelivery, outcome: Outcome): Promise<void> {
    try {
      await this.pending.record(outcome);
    } catch (error) {
      if (error instanceof RefusedOutcomeError) {
        const { firstMs, longestMs } = REFUSED;
        const unrecorded = delivery.lease - delivery.attempt;
        await this.releaseLater(delivery, Math.min(firstMs * 2 ** unrecorded, longestMs));
      }
      throw error;
    }
  }

  /** If this fails, the delivery is due when its lease ends. */
  private async releaseLater(delivery: LeasedDelivery, delayMs: number): Promise<void> {
    await this.pending.release(delivery, delayMs).catch(() => undefined);
  }

  /** @returns undefined if the call got no answer and that is our own fault, which is no attempt */
  private async send(delivery: LeasedDelivery, slot: Slot): Promise<Attempt | undefined> {
    const { subscription, event } = delivery;
    const at = delivery.takenAt;
    const { name, payload } = subscription;
    const body = notificationBody({ ...event, name, payload, id: delivery.id });
    const target = subscription.openTarget();
    const ours = {
      'content-type': 'application/json',
      'user-agent': this.settings.userAgent,
      ...(delivery.replayed && { 'webhook-replayed': 'true' }),
      ...signatureHeaders(delivery.id, at, body, target.secrets),
    };
    const headers = { ...target.headers, ...ours };
    const timeoutMs = this.timeoutOf(delivery);
    const start = performance.now();
    const { accountId } = event;
    const call = { accountId, url: target.url, headers, body, timeoutMs };
    const answer = await this.call(delivery, slot, call);
    if (!answer) return undefined;
    const request = shownRequest(target, ours);
    const phases = attemptPhases(delivery, start, answer.phases);
    return { number: delivery.attempt, at, ...answer, request, phases };
  }

  /** A call that fails on our own side is no attempt. Another worker, or this one a little later, may succeed. */
  private async call(
    delivery: LeasedDelivery,
    slot: Slot,
    request: TargetRequest,
  ): Promise<TargetAnswer | undefined> {
    const { host } = knownTarget(request.url);
    try {
      const answer = await this.target.post(request);
      if (await this.isOurs(delivery, host, answer)) return undefined;
      slot.end({ durationMs: answer.durationMs, answered: answer.status !== undefined });
      return answer;
    } catch (error) {
      const cause = ownFaultOf(error);
      if (cause !== undefined) this.hold.failedOnOurSide(host, cause);
      await new Promise((resolve) => setTimeout(resolve, OWN_FAULT.keepsSlotMs));
      slot.release();
      await this.releaseLater(delivery, OWN_FAULT.dueInMs);
      throw error;
    }
  }

  /** Whether our own network is the reason why there was no answer. Resolves once that is known. */
  private async isOurs(
    { webhookId, subscription, leaseEnds }: LeasedDelivery,
    host: string,
    { status, error }: TargetAnswer,
  ): Promise<boolean> {
    if (status !== undefined) this.hold.answered(host);
    if (error === undefined || !SILENCE.includes(error)) return false;
    const hadSucceeded =
      !this.hold.hasAnswered &&
      subscription.health.failingMs === null &&
      // While PostgreSQL is away, the attempt is recorded later.
      (await this.pending.hasSucceeded(webhookId).catch(() => false));
    const waitsUntil = leaseEnds - RECORD_MS;
    return (await this.hold.unanswered({ host, hadSucceeded, waitsUntil })) === 'ours';
  }

  /** Reports the verdict. @returns whether the subscription is now blocked or off */
  private async isBlockedBy(
    { webhookId, subscription, event: { accountId } }: LeasedDelivery,
    verdict: Verdict,
    outcome: string,
  ): Promise<boolean> {
    const { targetVersion, health: known } = subscription;
    const isHealthy = known.failingMs === null && known.openMs === null;
    if (verdict.kind === 'succeeded' && isHealthy) return false;
    const of = { webhookId, accountId, targetVersion };
    return this.circuitBreaker.report({ ...of, verdict, known, outcome });
  }

  private timeoutOf({ subscription }: LeasedDelivery): number {
    return subscription.retry?.timeoutMs ?? this.settings.timeoutMs;
  }
}

/** The delivery as if its schedule had been restarted during the attempt. */
function restarted(delivery: LeasedDelivery): LeasedDelivery {
  const scheduleBase = delivery.attempt - 1;
  return { ...delivery, scheduleBase, immediate: false, isExtra: false, extraAttempts: 0 };
}
