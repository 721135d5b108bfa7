import { SharedCache, type Steps } from '#libs/kernel';
import { Filter, Filters } from '../../event-kinds/domain/filter.js';
import { verdictsOf } from './accept-events.statements.js';

/** Bytes of filters to remember. */
const MOST = 16 << 20;
/**
 * What a set of filters takes in memory: itself, each filter, each character, each operator and name of a path.
 * known-filters.spec.ts measures sets of many shapes.
 */
const BYTES = { set: 1_800, filter: 250, character: 4, colon: 250, dot: 450 };
/** Filters are read again after this long, or those that were removed would be judged for ever. */
const KNOWN_FOR_MS = 600_000;

/** A filter, and an id that changes with it. */
interface IdentifiedFilter {
  id: string;
  text: string;
}

/** The filters of the subscriptions that could get an event. */
export class FilterSet {
  private constructor(
    private readonly ids: readonly string[],
    private readonly filters: Filters,
    readonly bytes: number,
  ) {}

  static *of(given: readonly IdentifiedFilter[]): Steps<FilterSet> {
    const filters = yield* Filters.of(given.map(({ text }) => new Filter(text)));
    const bytes = given.reduce((sum, { text }) => sum + bytesOf(text), BYTES.set);
    return new FilterSet(
      given.map(({ id }) => id),
      filters,
      bytes,
    );
  }

  /** Whether these are its filters, in their order. */
  hasIds(ids: readonly string[]): boolean {
    return ids.length === this.ids.length && ids.every((id, index) => id === this.ids[index]);
  }

  /** @param data JSON text */
  *verdictsOn(data: string): Steps<string> {
    return verdictsOf(this.ids, yield* this.filters.judge(data));
  }
}

/** Each path and each operator is followed by a colon, and names of a path are joined by dots. */
function bytesOf(text: string): number {
  const count = (character: string) => text.split(character).length - 1;
  const parts = BYTES.colon * count(':') + BYTES.dot * count('.');
  return BYTES.filter + BYTES.character * text.length + parts;
}

interface Known {
  set: FilterSet;
  accountId: string;
  /** By the clock of this cache, in ms. */
  until: number;
}

/** Filters by the audience of events: the subscriptions that could get them. No account can replace the few filters of others. */
export class KnownFilters {
  private readonly cache = new SharedCache<string, Known>(MOST, ({ set }) => set.bytes);

  /** @param now ms of a monotonic clock */
  constructor(private readonly now: () => number = () => performance.now()) {}

  get isEmpty(): boolean {
    return this.cache.isEmpty;
  }

  get(audience: string): Known | undefined {
    const known = this.cache.get(audience);
    if (!known || this.now() < known.until) return known;
    this.cache.delete(audience);
    return undefined;
  }

  set(audience: string, accountId: string, set: FilterSet): void {
    this.cache.set(audience, accountId, { set, accountId, until: this.now() + KNOWN_FOR_MS });
  }
}
