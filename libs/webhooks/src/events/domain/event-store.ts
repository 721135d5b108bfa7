import type { UnavailableError } from '#libs/kernel';
import type { Acceptance, ReportedEvent } from './event.js';

/** Where events are accepted. */
export abstract class EventStore {
  /**
   * Stores events and one delivery for each matching subscription, durably, in statements that
   * concurrent callers share; results in the order of the events. The result of an event is an error
   * when it may not be stored though others are, or when it was reported before and it is not known
   * what that report was answered with.
   * @throws UnavailableError when it is not known that anything was stored
   */
  abstract accept(events: readonly ReportedEvent[]): Promise<(Acceptance | UnavailableError)[]>;
}
