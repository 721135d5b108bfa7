import { Injectable } from '@nestjs/common';
import type { HoldCause } from '#libs/kernel';
import { Log, Metrics, Processes } from '#libs/runtime';

/** Shows a hold in the log, the metrics, the health of this worker, and its heartbeat. */
@Injectable()
export class HoldReport {
  constructor(
    private readonly processes: Processes,
    private readonly log: Log,
    metrics: Metrics,
  ) {
    metrics.gauge(
      'switchhook_hold',
      'Whether this worker holds its deliveries because of a fault of the service itself: 1 or 0.',
      () => (processes.hold ? 1 : 0),
    );
  }

  /** @param cause why it begins; undefined if it ends */
  changed(cause: HoldCause | undefined): void {
    const now = new Date();
    if (cause) this.log.error({ cause }, 'deliveries are held because of a fault on our own side');
    else {
      const forMs = now.getTime() - (this.processes.hold?.since ?? now).getTime();
      this.log.info({ forMs }, 'deliveries are no longer held');
    }
    this.processes.hold = cause && { cause, since: now };
  }
}
