import type { Found, Page, Scope } from '#libs/kernel';
import type { EventWithData } from './event.js';
import { type FeedFilter, FeedHorizon, FeedReader, type Horizon, type Waiting } from './feed.js';

/** Reads events in memory. A page searches {@link searched} of them. */
export class FakeFeedReader extends FeedReader {
  /** In the order of their ids. */
  readonly events: EventWithData[] = [];
  searched = Infinity;
  kept = '';
  /** How often {@link haveNews} was asked. */
  looks = 0;
  failure: Error | undefined;

  /** Adds an event of an account. */
  add(id: string, accountId: string, event: EventWithData['event'] = 'cdrCreated'): void {
    const at = new Date();
    const times = { occurredAt: at, createdAt: at };
    this.events.push({ id, accountId, event, resource: 'call', ...times, test: false, data: '{}' });
  }

  override read(
    scope: Scope,
    { event, resource, applicationId, producerId, contains = '' }: FeedFilter,
    { after, limit }: Page & { after: string },
    end: Horizon,
  ): Promise<Found<EventWithData>> {
    const between = this.between(scope, after, end);
    const searched = between.slice(0, this.searched);
    const rows = searched.filter(
      (one) =>
        (event === undefined || one.event === event) &&
        (resource === undefined || one.resource === resource) &&
        (applicationId === undefined || one.applicationId === applicationId) &&
        (producerId === undefined || one.producerId === producerId) &&
        one.data.includes(contains),
    );
    const last = searched.at(-1);
    const isCutShort = rows.length < limit && searched.length < between.length && last;
    return Promise.resolve({
      rows: rows.slice(0, limit),
      ...(isCutShort && { stoppedAt: last.id }),
    });
  }

  override haveNews(waiting: readonly Waiting[], end: Horizon): Promise<boolean[]> {
    this.looks += 1;
    if (this.failure) return Promise.reject(this.failure);
    const news = waiting.map(({ scope, after }) => this.between(scope, after, end).length > 0);
    return Promise.resolve(news);
  }

  override oldest(): Promise<string> {
    return Promise.resolve(this.kept);
  }

  override cursorAt(time: Date): string {
    return String(time.getTime());
  }

  private between(scope: Scope, after: string, end: Horizon): EventWithData[] {
    return this.events.filter(
      ({ id, accountId }) => (scope ?? accountId) === accountId && id > after && id < end,
    );
  }
}

/** A horizon that a test sets. */
export class FakeFeedHorizon extends FeedHorizon {
  constructor(public horizon: Horizon) {
    super();
  }

  override current(): Promise<Horizon> {
    return Promise.resolve(this.horizon);
  }
}
