import { Injectable } from '@nestjs/common';
import { Tracing } from '#libs/runtime';
import { AttemptTrace } from '../domain/attempt-trace.js';
import type { LeasedDelivery } from '../domain/pending-deliveries.js';
import { PROCESS_SPAN } from '../../queue/infrastructure/delivery-queues.js';

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
        parent: event.traceparent,
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
