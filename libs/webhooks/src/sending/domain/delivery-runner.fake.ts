import { CircuitBreaker, type TargetVerdict } from './circuit-breaker.js';
import { AttemptTrace, type DeliverySettings } from './delivery-runner.js';
import { type LeasedDelivery, type Outcome, PendingDeliveries } from './pending-deliveries.js';
import { TargetClient, type TargetAnswer, type TargetRequest } from './target-client.js';

export const settings = {
  timeoutMs: 15_000,
  retrySchedule: [10_000, 20_000],
  userAgent: 'Switchhook/test',
} satisfies DeliverySettings;

export class PendingSpy extends PendingDeliveries {
  leased: LeasedDelivery | undefined;
  readonly recorded: Outcome[] = [];
  readonly released: string[] = [];
  load(): Promise<LeasedDelivery | undefined> {
    return Promise.resolve(this.leased);
  }
  claim(): Promise<never> {
    return Promise.reject(new Error('a runner claims nothing'));
  }
  release({ id }: LeasedDelivery, delayMs?: number): Promise<void> {
    this.released.push(delayMs === undefined ? id : `${id} in ${delayMs} ms`);
    return Promise.resolve();
  }
  hasSucceeded(): Promise<boolean> {
    return Promise.resolve(true);
  }
  record(outcome: Outcome): Promise<void> {
    this.recorded.push(outcome);
    return Promise.resolve();
  }
}

export class TargetSpy extends TargetClient {
  answer: Partial<TargetAnswer> = { status: 200 };
  readonly requests: TargetRequest[] = [];
  whilePosting: () => Promise<unknown> = () => Promise.resolve();
  async post(request: TargetRequest): Promise<TargetAnswer> {
    this.requests.push(request);
    await this.whilePosting();
    return { durationMs: 3, phases: { firstByte: 2.6 }, truncated: false, ...this.answer };
  }
}

export class CircuitBreakerSpy extends CircuitBreaker {
  readonly told: TargetVerdict['verdict'][] = [];
  blocking = false;
  report({ verdict }: TargetVerdict): Promise<boolean> {
    this.told.push(verdict);
    return Promise.resolve(this.blocking);
  }
}

export class NoTrace extends AttemptTrace {
  around<Result>(_delivery: LeasedDelivery, work: () => Promise<Result>): Promise<Result> {
    return work();
  }
}

export const job = { id: '0192f0c1-0000-7000-8000-000000000001', lease: 0 };
const HEALTHY = { failures: 0, failingMs: null, openings: 0, openMs: null, stored: '', readAt: 0 };
const NOW = new Date('2026-11-21T12:00:00Z');

export function aLeasedDelivery(change: Partial<LeasedDelivery> = {}): LeasedDelivery {
  return {
    id: job.id,
    attempt: 1,
    lease: 1,
    leasedAt: performance.now(),
    leaseEnds: performance.now() + 30_000,
    scheduleBase: 0,
    immediate: false,
    isExtra: false,
    extraAttempts: 0,
    replayed: false,
    createdAt: new Date('2026-11-21T11:59:59Z'),
    takenAt: NOW,
    event: {
      accountId: '1',
      applicationId: null,
      event: 'smsdlr',
      resource: 'sms',
      occurredAt: new Date('2026-11-21T11:00:00Z'),
      test: false,
      traceparent: null,
      data: '{}',
    },
    webhookId: '5',
    subscription: {
      ...{ name: null, payload: null, retry: null },
      targetVersion: 1,
      health: HEALTHY,
      backlog: false,
      pace: null,
      pacedMs: 0,
      openTarget: () => ({
        url: 'http://target.example/',
        headers: {},
        secrets: [`whsec_${Buffer.alloc(32).toString('base64')}`],
      }),
    },
    ...change,
  };
}
