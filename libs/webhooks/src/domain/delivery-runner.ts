import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#libs/kernel';
import { AttemptTrace } from './attempt-trace.js';
import type { Attempt, DeliveryJob } from './delivery.js';
import { DeliveryAdmission } from './delivery-admission.js';
import { notificationBody, signatureHeaders } from './notification.js';
import {
  type Conclusion,
  PendingDeliveries,
  type ReleaseCause,
  type TakenDelivery,
} from './pending-deliveries.js';
import { retryAfter } from './retry-after.js';
import { scheduleOf } from './retry-policy.js';
import { retryDelay } from './retry-schedule.js';
import { TargetClient } from './target-client.js';

/** What came of a job; `idle`: there was nothing to do any more. */
export interface RunResult {
  webhookId?: string;
  /** The subscription has deliveries that wait in PostgreSQL. */
  backlog: boolean;
  outcome: 'idle' | 'released' | 'succeeded' | 'failed';
  /** What was made, if anything. */
  made?: { delivery: TakenDelivery; attempt: Attempt; conclusion: Conclusion };
}

/** A call without an answer that took longer than that took a slot from others. */
const LONG_MS = 1_000;

/** The name and version that receivers see. */
export const USER_AGENT = Symbol('UserAgent');

/** Makes one attempt of a delivery: take, send, conclude, record. */
@Injectable()
export class DeliveryRunner {
  /** What this worker has in flight. */
  readonly admission: DeliveryAdmission;
  private stopping = false;
  /** Subscriptions that had more to send than they may: what ends makes room for it. */
  private readonly handedBack = new Set<string>();

  constructor(
    private readonly pending: PendingDeliveries,
    private readonly target: TargetClient,
    private readonly trace: AttemptTrace,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(USER_AGENT) private readonly userAgent: string,
  ) {
    this.admission = new DeliveryAdmission(config.WORKER_CONCURRENCY, config.DELIVERY_CONCURRENCY);
  }

  /** From now on nothing is sent any more; what is being sent is finished. */
  stop(): void {
    this.stopping = true;
  }

  async run(job: DeliveryJob): Promise<RunResult> {
    const taken = await this.pending.take(job);
    if (!taken) return { backlog: false, outcome: 'idle' };
    const { webhookId } = taken;
    const unsent = this.causeNotToSend(taken);
    if (unsent) {
      await this.pending.release(taken, unsent);
      if (unsent === 'no_share') this.handedBack.add(webhookId);
      return { webhookId, backlog: unsent === 'no_share', outcome: 'released' };
    }
    return this.trace.around(taken, () => this.attempt(taken));
  }

  private async attempt(taken: TakenDelivery): Promise<RunResult> {
    const { webhookId, subscription } = taken;
    const attempt = await this.send(taken);
    const conclusion = await this.conclude(taken, attempt);
    await this.pending.record({ id: taken.id, take: taken.take, attempt, conclusion });
    const outcome = conclusion.state === 'succeeded' ? 'succeeded' : 'failed';
    const made = { delivery: taken, attempt, conclusion };
    // The subscription is as it was when this was taken, before others were handed back.
    const backlog = this.handedBack.delete(webhookId) || subscription.backlog;
    return { webhookId, backlog, outcome, made };
  }

  /** Enters the admission when there is no cause. */
  private causeNotToSend(taken: TakenDelivery): ReleaseCause | undefined {
    const { webhookId, subscription, event, immediate } = taken;
    if (subscription.cancelled) return 'cancelled';
    if (this.stopping) return 'stopping';
    if (immediate) {
      return this.admission.tryEnterTest(webhookId, event.accountId) ? undefined : 'too_many_tests';
    }
    if (subscription.held) return 'held';
    return this.admission.tryEnter(webhookId, event.accountId) ? undefined : 'no_share';
  }

  private async send(taken: TakenDelivery): Promise<Attempt> {
    const { webhookId, subscription, event, takenAt } = taken;
    const body = notificationBody({ ...event, ...optional(subscription), id: taken.id });
    let inVain = false;
    try {
      const { url, headers, secrets } = subscription.openTarget();
      const answer = await this.target.post({
        url,
        headers: {
          ...headers,
          'content-type': 'application/json',
          'user-agent': this.userAgent,
          ...(taken.replayed && { 'webhook-replayed': 'true' }),
          ...signatureHeaders(taken.id, takenAt, body, secrets),
        },
        body,
        timeoutMs: subscription.retry?.timeoutMs ?? this.config.DELIVERY_TIMEOUT_MS,
      });
      inVain = answer.status === undefined && answer.durationMs > LONG_MS;
      return { number: taken.attempt, at: takenAt, ...answer };
    } finally {
      const { accountId } = event;
      if (taken.immediate) this.admission.leaveTest(webhookId, accountId, inVain);
      else this.admission.leave(webhookId, accountId, inVain);
    }
  }

  private async conclude(taken: TakenDelivery, attempt: Attempt): Promise<Conclusion> {
    const { webhookId, subscription } = taken;
    const target = { webhookId, targetVersion: subscription.targetVersion };
    const { status = 0 } = attempt;
    const succeeded = status >= 200 && status < 300;
    // Before the outcome is recorded: the next probe starts when it is.
    if (succeeded ? subscription.failing : status !== 410 && !taken.immediate) {
      await this.pending.observe({ ...target, succeeded });
    }
    if (succeeded) return { state: 'succeeded' };
    if (status === 410) {
      await this.pending.switchOff(target);
      return { state: 'exhausted', reason: 'gone' };
    }
    const answeredAt = new Date(attempt.at.getTime() + attempt.durationMs);
    const wait = status === 429 || status === 503 ? retryAfter(headerOf(attempt), answeredAt) : 0;
    if (wait) await this.pending.hold(target, wait);
    const schedule = taken.immediate
      ? []
      : scheduleOf(subscription.retry, this.config.DELIVERY_RETRY_SCHEDULE);
    const delayMs = retryDelay(schedule, taken.attempt - taken.scheduleBase, Math.random());
    if (delayMs === undefined) return { state: 'exhausted', reason: 'no_attempts_left' };
    return { state: 'pending', delayMs: Math.max(delayMs, wait ?? 0) };
  }
}

function headerOf(attempt: Attempt): string | undefined {
  const value = attempt.responseHeaders?.['retry-after'];
  return Array.isArray(value) ? value[0] : value;
}

function optional({ name, payload }: TakenDelivery['subscription']): {
  name?: string;
  payload?: string;
} {
  return { ...(name !== undefined && { name }), ...(payload !== undefined && { payload }) };
}
