import { setImmediate } from 'node:timers/promises';
import type { Run } from '#libs/runtime';
import type { ReportedEvent } from '../domain/event.js';
import { FIND_FILTERS } from './accept-events.statements.js';
import { FilterSet, KnownFilters } from './known-filters.js';

/** Characters of data that are judged before other work goes on. */
const MOST_AT_ONCE = 64 << 10;
/** How many sets of filters are read at once: each has at most twenty of 4 KB. */
const MOST_READ = 50;

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
    if (this.known.isEmpty) return undefined;
    return judgeEach(events, (event) => this.known.get(audienceOf(event)));
  }

  /** Judges by the present filters, and remembers them. */
  async learn(held: readonly HeldEvent[]): Promise<Verdicts[]> {
    const audiences = [...new Map(held.map((each) => [audienceOf(each.event), each]))];
    const verdicts: Verdicts[] = held.map(() => undefined);
    for (let from = 0; from < audiences.length; from += MOST_READ) {
      const sets = await this.read(audiences.slice(from, from + MOST_READ));
      const judged = await judgeEach(
        held.map(({ event }) => event),
        (event) => sets.get(audienceOf(event)),
      );
      judged.forEach((given, index) => (verdicts[index] ??= given));
    }
    return verdicts;
  }

  /** Audiences without filters are left out. */
  private async read(audiences: readonly [string, HeldEvent][]): Promise<Map<string, FilterSet>> {
    const all = audiences.map(([, held]) => held);
    const rows = await this.run(FIND_FILTERS, {
      accountIds: all.map(({ accountId }) => accountId),
      applicationIds: all.map(({ event }) => event.applicationId),
      events: all.map(({ event }) => event.event),
      resources: all.map(({ event }) => event.resource),
    });
    const sets = new Map<string, FilterSet>();
    audiences.forEach(([audience, { accountId }], index) => {
      const texts = rows.flatMap(({ ord, filter }) => (ord === index + 1 ? [filter] : []));
      if (texts.length === 0) return;
      const set = new FilterSet(texts);
      sets.set(audience, set);
      this.known.set(audience, accountId, set);
    });
    return sets;
  }
}

async function judgeEach(
  events: readonly ReportedEvent[],
  setOf: (event: ReportedEvent) => FilterSet | undefined,
): Promise<Verdicts[]> {
  const verdicts: Verdicts[] = [];
  let characters = 0;
  for (const event of events) {
    const set = setOf(event);
    if (set) characters += event.data.length;
    if (characters > MOST_AT_ONCE) {
      await setImmediate();
      characters = event.data.length;
    }
    verdicts.push(set?.verdictsOn(event.data));
  }
  return verdicts;
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
