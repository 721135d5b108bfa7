import { Injectable } from '@nestjs/common';
import { FailureLog, Log, Processes, shortageOf, Tracing } from '#libs/runtime';
import { AttemptTrace, type RunResult, type Sent } from '../domain/delivery-runner.js';
import { type LeasedDelivery, RefusedOutcomeError } from '../domain/pending-deliveries.js';
import { PROCESS_SPAN } from '../../queue/delivery-queues.js';
import { ownFaultOf } from '../domain/target-client.js';
import { AttemptCounter } from '../../statistics/attempt-counter.js';
import { DeliveryResults } from '../../statistics/delivery-results.js';
import { DeliveryMetrics } from '../delivery-metrics.js';

const SUMMARY_MS = 1_000;

/** Counts, measures and logs the deliveries that a worker handles, from the queue or from PostgreSQL. */
@Injectable()
export class DeliveriesInFlight {
  /**
   * Not a `Set` of promises: V8 moves a set to a new table after some changes. The old table, in the old generation,
   * keeps the later ones alive, with all their deliveries, until a full garbage collection.
   */
  private inFlight = 0;
  private onIdle: () => void = () => undefined;
  private readonly outcomes = new Map<string, number>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly metrics: DeliveryMetrics,
    private readonly counter: AttemptCounter,
    private readonly results: DeliveryResults,
    private readonly log: Log,
    private readonly failures: FailureLog,
    private readonly processes: Processes,
  ) {
    processes.count(() => this.inFlight);
  }

  /** @returns undefined if it failed; the delivery is then due when its lease ends */
  async run(id: string, work: () => Promise<RunResult>): Promise<RunResult | undefined> {
    this.inFlight += 1;
    try {
      return await this.reported(id, work);
    } finally {
      this.inFlight -= 1;
      if (this.inFlight === 0) this.onIdle();
    }
  }

  /** Resolves when no delivery is in flight. */
  async idle(): Promise<void> {
    while (this.inFlight > 0) await new Promise<void>((resolve) => (this.onIdle = resolve));
  }

  /** Logs and stores what is not yet, at the end of the process. */
  async finish(): Promise<void> {
    this.summarise();
    await this.counter.flush().catch((error: unknown) => {
      this.log.warn({ err: error }, 'the last counts of attempts are lost');
    });
    await this.results.flush().catch((error: unknown) => {
      this.log.warn({ err: error }, 'the last results of deliveries are lost');
    });
  }

  /** Logs a summary of the last second. */
  private summarise(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.outcomes.size === 0) return;
    this.log.info({ outcomes: Object.fromEntries(this.outcomes) }, 'attempts');
    this.outcomes.clear();
  }

  private async reported(id: string, work: () => Promise<RunResult>) {
    try {
      const result = await work();
      this.report(id, result);
      return result;
    } catch (error) {
      this.count('interrupted');
      if (error instanceof RefusedOutcomeError) this.metrics.outcomeRefused();
      if (!this.isReported(error)) {
        this.failures.failed(error, { err: error, delivery: id }, 'attempt was interrupted');
      }
      return undefined;
    }
  }

  /** The log says once that the host lacks resources, or that deliveries are held, not for each delivery that waits. */
  private isReported(error: unknown): boolean {
    const isHeld = this.processes.hold !== undefined && ownFaultOf(error) !== undefined;
    return isHeld || shortageOf(error) !== undefined;
  }

  private report(id: string, result: RunResult): void {
    const { outcome } = result;
    this.count(outcome);
    if ('attempt' in result) this.measure(result);
    if (this.log.isDebug) {
      const attempt = 'delivery' in result ? { attempt: result.delivery.attempt } : {};
      this.log.debug({ delivery: id, ...attempt, outcome }, 'attempt');
    }
  }

  private measure({ delivery, attempt, conclusion }: Sent): void {
    const delayMs = attempt.at.getTime() - delivery.createdAt.getTime();
    this.metrics.attempted(attempt, delivery.attempt === 1 ? delayMs : undefined);
    const { webhookId, event } = delivery;
    this.counter.count({ accountId: event.accountId, webhookId, attempt });
    if (conclusion.state === 'succeeded') this.results.succeeded(event.accountId, webhookId);
    if (conclusion.state === 'exhausted' && !event.test) {
      this.results.lost(event.accountId, webhookId);
    }
    if (conclusion.state !== 'pending') this.metrics.ended(conclusion.state);
  }

  private count(outcome: string): void {
    this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1);
    this.timer ??= setTimeout(() => this.summarise(), SUMMARY_MS).unref();
  }
}

/** Creates a span for each attempt, as a child of the one in which its event was accepted. */
@Injectable()
export class TracedAttempts extends AttemptTrace {
  constructor(private readonly tracing: Tracing) {
    super();
  }

  around<Result>(delivery: LeasedDelivery, work: () => Promise<Result>): Promise<Result> {
    if (!this.tracing.enabled) return work();
    const { id, attempt, event } = delivery;
    return this.tracing.span(
      {
        ...PROCESS_SPAN,
        parent: event.traceparent ?? undefined,
        attributes: {
          ...PROCESS_SPAN.attributes,
          'messaging.message.id': id,
          'switchhook.attempt': attempt,
        },
      },
      work,
    );
  }
}
