import { Injectable } from '@nestjs/common';
import { LoopPacer } from '#libs/kernel';
import { AttemptTrace } from './attempt-trace.js';
import type { Attempt, DeliveryJob } from './delivery.js';
import { DeliverySlots } from './delivery-slots.js';
import { notificationBody, signatureHeaders } from './notification.js';
import { type Conclusion, type LeasedDelivery, PendingDeliveries } from './pending-deliveries.js';
import { Activity } from '../../subscriptions/domain/activity.js';
import { scheduleOf } from '../../subscriptions/domain/retry-policy.js';
import { retryDelay } from './retry-schedule.js';
import { attemptPhases, shownRequest } from './sent-request.js';
import type { Verdict } from '../../subscriptions/domain/subscription-life.js';
import { TargetClient } from './target-client.js';
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

  /** Runs a job from the queue, after {@link DeliverySlots.enter}. */
  async runJob(job: DeliveryJob): Promise<RunResult> {
    const delivery = await this.pending.take(job).catch((error: unknown) => {
      this.slots.entered(() => undefined);
      throw error;
    });
    const hasPlace = this.slots.entered(() => delivery !== undefined && this.acquire(delivery));
    if (!delivery) return { outcome: 'idle' };
    return hasPlace ? this.run(delivery) : this.release(delivery);
  }

  /** Runs a delivery that has a place. */
  async run(delivery: LeasedDelivery): Promise<RunResult> {
    if (!(await this.mayStart(delivery))) {
      this.releasePlace(delivery);
      return this.release(delivery);
    }
    return this.trace.around(delivery, () => this.attempt(delivery));
  }

  private acquire({ webhookId, event, immediate }: LeasedDelivery): boolean {
    if (immediate) return this.slots.acquireTest(webhookId, event.accountId);
    return this.slots.acquire(webhookId, event.accountId) > 0;
  }

  private releasePlace({ webhookId, event, immediate }: LeasedDelivery): void {
    if (immediate) this.slots.releaseTest(webhookId, event.accountId);
    else this.slots.release(webhookId, event.accountId);
  }

  /** Starts no call that might outlast its lease, because another worker might repeat it. */
  private async mayStart(delivery: LeasedDelivery): Promise<boolean> {
    const needed = this.timeoutOf(delivery) + BODY_MS + SPARE_MS;
    if (this.stopping || delivery.leaseEnds - performance.now() < needed) return false;
    if (!delivery.immediate) return this.slots.start(delivery.webhookId, delivery.leasedAt);
    this.slots.startTest(delivery.webhookId);
    return true;
  }

  private async release(delivery: LeasedDelivery): Promise<RunResult> {
    await this.pending.release(delivery);
    return { outcome: 'released', delivery };
  }

  private async attempt(delivery: LeasedDelivery): Promise<RunResult> {
    await this.pacer.next(delivery.event.accountId);
    const attempt = await this.send(delivery);
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

  private async send(delivery: LeasedDelivery): Promise<Attempt> {
    const { webhookId, subscription, event, immediate } = delivery;
    const at = delivery.takenAt;
    const { name, payload } = subscription;
    const body = notificationBody({
      ...event,
      ...(name !== undefined && { name }),
      ...(payload !== undefined && { payload }),
      id: delivery.id,
    });
    let call = { durationMs: 0, answered: true };
    try {
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
      const answer = await this.target.post({ url: target.url, headers, body, timeoutMs });
      call = { durationMs: answer.durationMs, answered: answer.status !== undefined };
      const request = shownRequest(target, ours);
      const phases = attemptPhases(delivery, start, answer.phases);
      return { number: delivery.attempt, at, ...answer, request, phases };
    } finally {
      if (immediate) this.slots.endTest(webhookId, event.accountId, call);
      else this.slots.end(webhookId, event.accountId, call);
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
