import { Injectable } from '@nestjs/common';
import { LoopPacer } from '#libs/kernel';
import { AttemptTrace } from './attempt-trace.js';
import type { Attempt } from '../../deliveries/domain/delivery.js';
import type { DeliveryJob } from '../../queue/domain/delivery-queue.js';
import { DeliverySlots, type Entry, type Place } from './delivery-slots.js';
import { notificationBody, signatureHeaders } from './notification.js';
import { type Conclusion, type LeasedDelivery, PendingDeliveries } from './pending-deliveries.js';
import { Activity } from '../../activity/domain/activity.js';
import { scheduleOf } from '../../subscriptions/domain/retry-policy.js';
import { retryDelay } from './retry-schedule.js';
import { attemptPhases, shownRequest } from './sent-request.js';
import type { Verdict } from '../../subscriptions/domain/subscription-life.js';
import { type TargetAnswer, TargetClient, type TargetRequest } from './target-client.js';
import { TargetVerdicts, verdictOf } from './target-verdicts.js';

/** A delivery that was sent, with its outcome. */
export interface Sent {
  outcome: 'succeeded' | 'failed';
  delivery: LeasedDelivery;
  attempt: Attempt;
  conclusion: Conclusion;
}

/** The result for a delivery: nothing was left to do, it is due again at once, or it was sent. */
export type RunResult =
  { outcome: 'idle' } | { outcome: 'released'; delivery: LeasedDelivery } | Sent;

/** Time of an attempt beyond its timeout: the response body is read for one second. */
const BODY_MS = 1_000;
/** Time that a delivery may wait here for its call, plus time to record the outcome. */
const SPARE_MS = 3_000;
/**
 * How long a delivery keeps its place after its call failed on our own side, so that a host without resources makes
 * fewer calls, and how long after it was claimed it is due again, in ms.
 */
const OWN_FAULT = { keepsPlaceMs: 1_000, dueInMs: 5_000 };

/** The operator's settings for deliveries. */
export abstract class DeliverySettings {
  /** Limits of concurrent calls, for a worker and for one subscription. */
  abstract readonly atOnce: number;
  abstract readonly atOnceOfOne: number;
  /** Defaults for subscriptions without a policy, in ms: response timeout and delays before retries. */
  abstract readonly timeoutMs: number;
  abstract readonly retrySchedule: readonly number[];
  abstract readonly userAgent: string;
}

/** Makes one attempt of a delivery: sends it, determines the outcome and records it. */
@Injectable()
export class DeliveryRunner {
  /** Limits the calls that this worker has in flight. */
  readonly slots: DeliverySlots;
  private readonly pacer = new LoopPacer();
  private stopping = false;

  constructor(
    private readonly pending: PendingDeliveries,
    private readonly target: TargetClient,
    private readonly verdicts: TargetVerdicts,
    private readonly trace: AttemptTrace,
    private readonly activity: Activity,
    private readonly settings: DeliverySettings,
  ) {
    this.slots = new DeliverySlots(settings.atOnce, settings.atOnceOfOne);
  }

  /** Starts no more calls. Calls in flight continue. */
  stop(): void {
    this.stopping = true;
    this.slots.stop();
  }

  /** Runs a job from the queue. Ends its entry. */
  async runJob(job: DeliveryJob, entry: Entry): Promise<RunResult> {
    try {
      const delivery = await this.pending.take(job);
      if (!delivery) return { outcome: 'idle' };
      const { webhookId, event, immediate: tests } = delivery;
      const place = entry.exchange(() => {
        return this.slots.acquire({ webhookId, accountId: event.accountId, tests })[0];
      });
      return await (place ? this.run(delivery, place) : this.release(delivery));
    } finally {
      entry.end();
    }
  }

  /** Runs a delivery, and ends its place. @throws our own faults; the delivery is then due again later */
  async run(delivery: LeasedDelivery, place: Place): Promise<RunResult> {
    try {
      if (await this.mayStart(delivery, place)) {
        return await this.trace.around(delivery, () => this.attempt(delivery, place));
      }
    } finally {
      place.end();
    }
    return this.release(delivery);
  }

  /** Starts no call that might outlast its lease, because another worker might repeat it. */
  private async mayStart(delivery: LeasedDelivery, place: Place): Promise<boolean> {
    const needed = this.timeoutOf(delivery) + BODY_MS + SPARE_MS;
    if (this.stopping || delivery.leaseEnds - performance.now() < needed) return false;
    return place.start(delivery.leasedAt);
  }

  private async release(delivery: LeasedDelivery): Promise<RunResult> {
    await this.pending.release(delivery);
    return { outcome: 'released', delivery };
  }

  private async attempt(delivery: LeasedDelivery, place: Place): Promise<RunResult> {
    await this.pacer.next(delivery.event.accountId);
    const attempt = await this.send(delivery, place);
    const verdict = verdictOf(attempt, delivery.immediate);
    // Before recording the outcome, because the next probe may start once it is recorded.
    await this.reportVerdict(delivery, verdict);
    const conclusion = this.conclude(delivery, verdict);
    const restarted = { ...delivery, scheduleBase: delivery.attempt - 1, immediate: false };
    const ifRestarted = this.conclude(restarted, verdict);
    const { id, lease, scheduleBase } = delivery;
    // Nothing waits for the record, and a batch of outcomes costs little more than one.
    await this.pacer.rest();
    await this.pending.record({ id, lease, attempt, conclusion, scheduleBase, ifRestarted });
    const { accountId } = delivery.event;
    this.activity.report(accountId, { kind: 'attempt', id, number: attempt.number });
    const outcome = verdict.kind === 'succeeded' ? 'succeeded' : 'failed';
    return { outcome, delivery, attempt, conclusion };
  }

  private async send(delivery: LeasedDelivery, place: Place): Promise<Attempt> {
    const { subscription, event } = delivery;
    const at = delivery.takenAt;
    const { name, payload } = subscription;
    const body = notificationBody({
      ...event,
      ...(name !== undefined && { name }),
      ...(payload !== undefined && { payload }),
      id: delivery.id,
    });
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
    const answer = await this.call(delivery, place, { url: target.url, headers, body, timeoutMs });
    const request = shownRequest(target, ours);
    const phases = attemptPhases(delivery, start, answer.phases);
    return { number: delivery.attempt, at, ...answer, request, phases };
  }

  /** A call that fails on our own side is no attempt. Another worker, or this one a little later, may succeed. */
  private async call(
    delivery: LeasedDelivery,
    place: Place,
    request: TargetRequest,
  ): Promise<TargetAnswer> {
    try {
      const answer = await this.target.post(request);
      place.end({ durationMs: answer.durationMs, answered: answer.status !== undefined });
      return answer;
    } catch (error) {
      await new Promise((resolve) => setTimeout(resolve, OWN_FAULT.keepsPlaceMs));
      place.end();
      // If this fails, the delivery is due when its lease ends.
      await this.pending.release(delivery, OWN_FAULT.dueInMs).catch(() => undefined);
      throw error;
    }
  }

  private async reportVerdict(
    { webhookId, subscription, event: { accountId } }: LeasedDelivery,
    verdict: Verdict,
  ): Promise<void> {
    const { targetVersion, health: known } = subscription;
    if (verdict.kind === 'succeeded' && known.failingMs === null && known.openMs === null) return;
    const isBlocked = await this.verdicts.report({
      ...{ webhookId, accountId, targetVersion, verdict, known },
    });
    if (isBlocked) this.slots.block(webhookId);
  }

  private conclude(delivery: LeasedDelivery, verdict: Verdict): Conclusion {
    if (verdict.kind === 'succeeded') return { state: 'succeeded' };
    if (verdict.kind === 'gone') return { state: 'exhausted', reason: 'gone' };
    const { subscription, immediate, attempt, scheduleBase } = delivery;
    const schedule = immediate ? [] : scheduleOf(subscription.retry, this.settings.retrySchedule);
    const delayMs = retryDelay(schedule, attempt - scheduleBase, Math.random());
    if (delayMs === undefined) return { state: 'exhausted', reason: 'no_attempts_left' };
    return { state: 'pending', delayMs: Math.max(delayMs, verdict.retryAfterMs ?? 0) };
  }

  private timeoutOf({ subscription }: LeasedDelivery): number {
    return subscription.retry?.timeoutMs ?? this.settings.timeoutMs;
  }
}
