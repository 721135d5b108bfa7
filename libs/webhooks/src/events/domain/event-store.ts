import type { UnavailableError } from '#libs/kernel';
import type { Acceptance, ReportedEvent } from './event.js';

/** Accepts events. */
export abstract class EventStore {
  /**
   * Durably stores events and one delivery for each matching subscription. Concurrent callers share
   * statements. Results have the order of the events. An event's result is an error if others are stored
   * but this one may not be, or if it is a repeat and the result of its first report is unknown.
   * @throws UnavailableError if possibly none of the events was stored
   */
  abstract accept(events: readonly ReportedEvent[]): Promise<(Acceptance | UnavailableError)[]>;
}
