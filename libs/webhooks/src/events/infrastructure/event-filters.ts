import { groupBy, inSlices } from '#libs/kernel';
import type { Run } from '#libs/runtime';
import type { ReportedEvent } from '../domain/event.js';
import { FIND_FILTERS } from './accept-events.statements.js';
import { FilterSet, KnownFilters } from './known-filters.js';

/** How many sets of filters are read at once: each has at most twenty of 4 KB. */
const MOST_READ = 10;

/** An event that was not stored, because its filters were not all known. */
export interface HeldEvent {
  event: ReportedEvent;
  accountId: string;
}

/** The verdicts on an event, for `ACCEPT_EVENTS`; undefined if no filter is known. */
type Verdicts = string | undefined;

/**
 * Judges the data of events before they are stored. Remembers the filters that events have met. They may have changed
 * since: the statement that stores an event uses verdicts of its present filters only.
 */
export class EventFilters {
  private readonly known = new KnownFilters();

  constructor(private readonly run: Run) {}

  /** Judges by the filters that are known; undefined if there are none. */
  judge(events: readonly ReportedEvent[]): Promise<Verdicts[]> | undefined {
    return this.known.isEmpty ? undefined : this.judgeKnown(events);
  }

  private async judgeKnown(events: readonly ReportedEvent[]): Promise<Verdicts[]> {
    const verdicts: Verdicts[] = [];
    for (const event of events) {
      const known = this.known.get(audienceOf(event));
      verdicts.push(known && (await judged(event, known.accountId, known.set)));
    }
    return verdicts;
  }

  /** Judges by the present filters, and remembers them. */
  async learn(held: readonly HeldEvent[]): Promise<Verdicts[]> {
    const verdicts: Verdicts[] = held.map(() => undefined);
    const byAudience = groupBy(held.keys(), (index) => audienceOf(held[index]!.event));
    const audiences = [...byAudience];
    for (let from = 0; from < audiences.length; from += MOST_READ) {
      const some = audiences.slice(from, from + MOST_READ);
      const found = await this.find(some.map(([, [first]]) => held[first!]!));
      for (const [at, [audience, indexes]] of some.entries()) {
        const filters = found.get(at + 1);
        if (!filters) continue;
        const { accountId } = held[indexes[0]!]!;
        const set = await this.setOf(audience, accountId, filters);
        for (const index of indexes) {
          verdicts[index] = await judged(held[index]!.event, accountId, set);
        }
      }
    }
    return verdicts;
  }

  /** The filters that some events could meet, by the position of the event, from 1. */
  private async find(held: readonly HeldEvent[]) {
    const rows = await this.run(FIND_FILTERS, {
      accountIds: held.map(({ accountId }) => accountId),
      applicationIds: held.map(({ event }) => event.applicationId),
      events: held.map(({ event }) => event.event),
      resources: held.map(({ event }) => event.resource),
    });
    return groupBy(rows, ({ ord }) => ord);
  }

  /** Compiles filters, unless they are the known ones. */
  private async setOf(
    audience: string,
    accountId: string,
    filters: readonly { id: string; text: string }[],
  ): Promise<FilterSet> {
    const known = this.known.get(audience)?.set;
    if (known?.hasIds(filters.map(({ id }) => id)) === true) return known;
    const set = await inSlices(accountId, FilterSet.of(filters));
    this.known.set(audience, accountId, set);
    return set;
  }
}

function judged({ data }: ReportedEvent, accountId: string, set: FilterSet): Promise<string> {
  return inSlices(accountId, set.verdictsOn(data));
}

/** Names the subscriptions that could get an event. */
function audienceOf({
  applicationId = '',
  accountId = '',
  event,
  resource,
}: ReportedEvent): string {
  return `${applicationId} ${accountId} ${event} ${resource}`;
}
