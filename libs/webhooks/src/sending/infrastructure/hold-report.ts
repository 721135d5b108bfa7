import { Injectable } from '@nestjs/common';
import type { HoldCause } from '#libs/kernel';
import { Log, Metrics, Processes } from '#libs/runtime';
import { HoldListener } from '../domain/hold.js';

/** Shows a hold in the log, the metrics, the health of this worker, and its heartbeat. */
@Injectable()
export class HoldReport extends HoldListener {
  constructor(
    private readonly processes: Processes,
    private readonly log: Log,
    metrics: Metrics,
  ) {
    super();
    metrics.gauge(
      'switchhook_hold',
      'Whether this worker holds its deliveries because of a fault of the service itself: 1 or 0.',
      () => (processes.hold ? 1 : 0),
    );
  }

  began(cause: HoldCause): void {
    this.processes.hold = { cause, since: new Date() };
    this.log.error({ cause }, 'deliveries are held because of a fault on our own side');
  }

  ended(): void {
    const forMs = Date.now() - (this.processes.hold?.since.getTime() ?? Date.now());
    this.processes.hold = undefined;
    this.log.info({ forMs }, 'deliveries are no longer held');
  }
}
