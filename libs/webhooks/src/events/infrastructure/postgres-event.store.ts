import { Inject, Injectable } from '@nestjs/common';
import { DomainError, InternalError, UnavailableError } from '#libs/kernel';
import {
  CONFIG,
  type Config,
  Database,
  GroupCommit,
  isRowError,
  Metrics,
  PAUSE,
  textArray,
  Tracing,
  translateDatabaseError,
} from '#libs/runtime';
import { Activity } from '../../activity/domain/activity.js';
import { DeliveryQueue, type QueuedDelivery } from '../../queue/domain/delivery-queue.js';
import { type Acceptance, EventStore, type ReportedEvent, type Unstored } from '../domain/event.js';
import { REPORTED_KINDS } from '../../event-kinds/domain/event-kinds.js';
import { PUBLISH_SPAN } from '../../queue/delivery-queues.js';
import { AccountLoadCounter } from '../../statistics/account-loads.js';
import {
  ACCEPT_EVENTS,
  ACCEPT_FILTERED_EVENTS,
  type ClaimedDeliveryRow,
  type EventResultRow,
  FIRST_LEASE,
  type KeyRow,
  type ReportedEvents,
} from './accept-events.statements.js';
import { EventFilters } from './event-filters.js';
import { findRepeated } from './repeated-events.js';

/** Requests with this many events use a separate group, so that others do not wait for slow statements. */
const MANY_EVENTS = 20;
/** Most events in a statement of such requests; larger ones would delay others for longer. */
const MOST_EVENTS = 500;
/** Most bytes of data in a statement: to send them takes about a millisecond. */
const MOST_BYTES = 1 << 20;
/** How often held events are judged and stored again. Each time, a filter must have been changed meanwhile. */
const TRIES = 10;
/**
 * After an event with an unjudged filter, filters are taken into account for this long. Otherwise many such events would
 * have every statement run twice.
 */
const FILTERED_FOR_MS = 1000;
/** Requests are numbered up to here, and then from 0 again. */
const MAX_REQUESTS = 1 << 30;

/** An event, its request, the verdicts of filters on it, and the span in which it is accepted. */
interface JudgedEvent {
  event: ReportedEvent;
  request: number;
  verdicts: string | undefined;
  traceparent: string | undefined;
}

/** The event was not stored, because not all filters of its request and account were known. */
class Held {
  constructor(readonly accountId: string) {}
}

type Result = Acceptance | Unstored;

/** Stores events in PostgreSQL. Concurrent calls share a statement and a commit. */
@Injectable()
export class PostgresEventStore extends EventStore {
  private readonly few: GroupCommit<JudgedEvent, Result | Held>;
  private readonly many: GroupCommit<JudgedEvent, Result | Held>;
  private readonly filters: EventFilters;
  private requests = 0;
  /** By performance.now(). */
  private filteredUntil = 0;
  private readonly timeoutMs: number;
  private readonly results;

  constructor(
    private readonly database: Database,
    private readonly queue: DeliveryQueue,
    private readonly activity: Activity,
    private readonly tracing: Tracing,
    private readonly loads: AccountLoadCounter,
    metrics: Metrics,
    @Inject(CONFIG) config: Config,
  ) {
    super();
    this.results = metrics.counter(
      'switchhook_events_total',
      'Reported events by result: accepted, duplicate or refused.',
      { event: REPORTED_KINDS, result: ['accepted', 'duplicate', 'refused'] },
    );
    this.timeoutMs = config.DELIVERY_TIMEOUT_MS;
    this.filters = new EventFilters(database.run);
    const accept = (events: readonly JudgedEvent[]) => this.acceptBatch(events);
    const limits = {
      maxWeight: MOST_BYTES,
      weigh: ({ event }: JudgedEvent) => Buffer.byteLength(event.data),
    };
    this.few = new GroupCommit(accept, { ...limits, maxItems: 200, atOnce: 2, pause: PAUSE });
    // One statement at a time: two would saturate a small PostgreSQL.
    this.many = new GroupCommit(accept, { ...limits, maxItems: MOST_EVENTS });
  }

  async accept(events: readonly ReportedEvent[]): Promise<Result[]> {
    const count = fitting(events);
    const results = await this.acceptTogether(events.slice(0, count));
    const others = events.slice(count);
    if (others.length === 0) return results;
    // The first events are already stored, even if the others fail.
    const later = await this.accept(others).catch(resultsOf(others));
    return [...results, ...later];
  }

  private async acceptTogether(events: readonly ReportedEvent[]): Promise<Result[]> {
    const judge = this.filters.judge(events);
    const results = await this.store(events, judge);
    for (let tries = TRIES; tries > 0; tries -= 1) {
      const held = results.flatMap((result, index) =>
        result instanceof Held
          ? [{ index, event: events[index]!, accountId: result.accountId }]
          : [],
      );
      if (held.length === 0) break;
      const again = held.map(({ event }) => event);
      const stored = await this.store(again, this.filters.learn(held)).catch(resultsOf(again));
      for (const [at, { index }] of held.entries()) results[index] = stored[at]!;
    }
    return results.map((result, index) => {
      if (result instanceof Held) {
        return new UnavailableError(new Error('the filters of an event changed again and again'));
      }
      this.count(events[index]?.event, result);
      return result;
    });
  }

  private async store(
    events: readonly ReportedEvent[],
    verdicts: Promise<(string | undefined)[]> | undefined,
  ): Promise<(Result | Held)[]> {
    try {
      return await this.storeJudged(events, verdicts && (await verdicts));
    } catch (error) {
      throw translateDatabaseError(error);
    }
  }

  /** If PostgreSQL may have refused a single event, stores the events in halves, until it refuses only that one. */
  private async storeJudged(
    events: readonly ReportedEvent[],
    verdicts: readonly (string | undefined)[] | undefined,
  ): Promise<(Result | Held)[]> {
    try {
      const group = events.length < MANY_EVENTS ? this.few : this.many;
      const request = (this.requests = (this.requests + 1) % MAX_REQUESTS);
      return await this.tracing.span(PUBLISH_SPAN, () => {
        const { traceparent } = this.tracing;
        return group.run(
          events.map((event, at) => ({ event, request, verdicts: verdicts?.[at], traceparent })),
        );
      });
    } catch (error) {
      if (!isRowError(error)) throw error;
      if (events.length === 1) return [new InternalError(error)];
      const half = events.length >> 1;
      const others = events.slice(half);
      const first = await this.storeJudged(events.slice(0, half), verdicts?.slice(0, half));
      const later = await this.storeJudged(others, verdicts?.slice(half)).catch(resultsOf(others));
      return [...first, ...later];
    }
  }

  private count(event = '', result: Result): void {
    if (result instanceof DomainError) return;
    const accepted = result.accepted && (result.duplicate ? 'duplicate' : 'accepted');
    this.results.inc({ event, result: accepted || 'refused' });
  }

  private async acceptBatch(judged: readonly JudgedEvent[]): Promise<(Result | Held)[]> {
    const events = judged.map(({ event }) => event);
    const rows = await this.runAccept(judged, {
      events: events.map(({ event }) => event),
      resources: events.map(({ resource }) => resource),
      applicationIds: events.map(({ applicationId }) => applicationId),
      accountIds: events.map(({ accountId }) => accountId),
      producerIds: events.map(({ producerId }) => producerId),
      occurredAt: events.map(({ occurredAt }) => occurredAt?.toISOString()),
      data: textArray(events.map(({ data }) => data)),
      traceparents: this.tracing.enabled ? judged.map(({ traceparent }) => traceparent) : undefined,
      hasRoom: this.queue.hasRoom(),
      timeoutMs: this.timeoutMs,
    });
    // After the commit, and without waiting. Deliveries that miss the queue are due when their leases end.
    void this.queue.add(rows.filter((row) => row.ord === null).map(queuedDelivery));
    const accepted = rows.filter((row) => row.ord !== null);
    const now = Date.now();
    for (const { accountId, eventId: id, fresh, deliveries } of accepted) {
      if (fresh) this.loads.add(accountId, now, { reported: 1 });
      if (fresh && deliveries > 0) this.activity.report(accountId, { kind: 'event', id });
    }
    // The other events are already committed, even if this statement fails.
    const repeated = await findRepeated(this.database.run, events, accepted).catch(
      (error: unknown) => new UnavailableError(error),
    );
    const results: (Result | Held)[] = [];
    for (const row of accepted) {
      results[row.ord - 1] = row.held ? new Held(row.accountId) : acceptanceOf(row, repeated);
    }
    return results;
  }

  private async runAccept(judged: readonly JudgedEvent[], values: ReportedEvents) {
    const isFiltered =
      performance.now() < this.filteredUntil ||
      judged.some(({ verdicts }) => verdicts !== undefined);
    if (!isFiltered) {
      const rows = await this.database.runSynchronously(ACCEPT_EVENTS, values);
      if (!rows.some((row) => row.ord !== null && row.held)) return rows;
      this.filteredUntil = performance.now() + FILTERED_FOR_MS;
    }
    return this.database.runSynchronously(ACCEPT_FILTERED_EVENTS, {
      ...values,
      starts: startsOf(judged),
      verdicts: judged.map(({ verdicts }) => verdicts),
    });
  }
}

/** How many of the events fit into a statement; at least one. */
function fitting(events: readonly ReportedEvent[]): number {
  let bytes = 0;
  const end = events.findIndex(({ data }, index) => {
    bytes += Buffer.byteLength(data);
    return index > 0 && (index === MOST_EVENTS || bytes > MOST_BYTES);
  });
  return end < 0 ? events.length : end;
}

/** Positions, from 1, at which requests begin. */
function startsOf(events: readonly JudgedEvent[]): number[] {
  const starts: number[] = [];
  events.forEach(({ request }, at) => {
    if (request !== events[at - 1]?.request) starts.push(at + 1);
  });
  return starts;
}

function queuedDelivery({ deliveryId: id, webhookId }: ClaimedDeliveryRow): QueuedDelivery {
  return { id, lease: FIRST_LEASE, webhookId };
}

function acceptanceOf(
  row: EventResultRow,
  repeated: ReadonlyMap<number, KeyRow> | UnavailableError,
): Result {
  if (row.refusal !== null) return { accepted: false, refusal: row.refusal };
  if (row.fresh) {
    return { accepted: true, id: row.eventId, duplicate: false, deliveries: row.deliveries };
  }
  if (repeated instanceof UnavailableError) return repeated;
  const first = repeated.get(row.ord);
  // Its retention ended between the two statements. When the producer repeats it, it counts as new.
  if (!first) return new UnavailableError(new Error('the key of a repeated event is gone'));
  return { accepted: true, id: first.eventId, duplicate: true, deliveries: first.deliveries };
}

/** The results of events whose statement failed when others may have been stored; throws what is no outage. */
function resultsOf(events: readonly ReportedEvent[]): (error: unknown) => UnavailableError[] {
  return (thrown) => {
    const error = translateDatabaseError(thrown);
    if (error instanceof UnavailableError) return events.map(() => error);
    throw error;
  };
}
