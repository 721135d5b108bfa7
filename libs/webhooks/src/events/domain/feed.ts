import {
  CURSOR_RULE,
  DomainError,
  type Found,
  type Page,
  type Scope,
  ValidationError,
} from '#libs/kernel';
import type { EventWithData } from './event.js';

/** Filters of the feed, by what never changes in an event. An unknown value finds nothing. */
export interface FeedFilter {
  event?: string;
  resource?: string;
  applicationId?: string;
  producerId?: string;
  /** A text in its data, as they were sent. */
  contains?: string;
}

/** The end of a part of the feed: a cursor behind which no event can appear any more. */
export type Horizon = string;

/** The events after a cursor are no longer kept. */
export class CursorExpiredError extends DomainError {
  /** @param oldest the oldest cursor that works */
  constructor(oldest: string) {
    const message = `Events right after this cursor are no longer kept. The oldest cursor that works is ${oldest}.`;
    super('gone', 'cursor_expired', message, { members: { oldest } });
  }
}

/** The text is no cursor that was ever given. */
export class NotACursorError extends ValidationError {
  constructor() {
    const message = `The query parameter after ${CURSOR_RULE}.`;
    super([{ field: 'after', code: 'format', message }]);
  }
}

/** How far the feed can be read. */
export abstract class FeedHorizon {
  /**
   * Everything that was accepted before this call is within it, unless something accepted earlier is still being committed.
   * @throws UnavailableError
   */
  abstract current(): Promise<Horizon>;
}

/** Someone who waits for events after a cursor. */
export interface Waiting {
  scope: Scope;
  after: string;
}

/** Reads the feed. A cursor is the id of an event, or of none: the events after it have greater ids. */
export abstract class FeedReader {
  /** Oldest first, without tests. */
  abstract read(
    scope: Scope,
    filter: FeedFilter,
    page: Page & { after: string },
    end: Horizon,
  ): Promise<Found<EventWithData>>;

  /** Whether there may be an event for each of them. */
  abstract haveNews(waiting: readonly Waiting[], end: Horizon): Promise<boolean[]>;

  /** The oldest cursor behind which all events are kept. */
  abstract oldest(end: Horizon): Promise<string>;

  /** The cursor of a time: the events that are accepted later are after it. */
  abstract cursorAt(time: Date): string;
}
