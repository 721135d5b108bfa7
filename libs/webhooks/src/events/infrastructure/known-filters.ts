import { Filter, Filters } from '../../event-kinds/domain/filter.js';
import { verdictsOf } from './accept-events.statements.js';

/** Bytes of filters to remember, about: of all accounts, and of one, which has room for three of the largest sets. */
const MOST = 16 << 20;
const MOST_OF_ACCOUNT = 2 << 20;
/** About what a set of filters takes, and each character of its text. */
const BYTES = { set: 200, character: 8 };
/** Filters are read again after this long, or those that were removed would be judged for ever. */
const KNOWN_FOR_MS = 600_000;

/** The filters of the subscriptions that could get an event. */
export class FilterSet {
  readonly bytes: number;
  private readonly ids: string[];
  private readonly filters: Filters;

  constructor(texts: readonly string[]) {
    const filters = texts.map((text) => new Filter(text));
    this.bytes = texts.reduce((sum, { length }) => sum + BYTES.character * length, BYTES.set);
    this.ids = filters.map(({ id }) => id);
    this.filters = new Filters(filters);
  }

  /** @param data JSON text */
  verdictsOn(data: string): string {
    return verdictsOf(this.ids, this.filters.judge(data));
  }
}

interface Known {
  set: FilterSet;
  accountId: string;
  /** By the clock of this cache, in ms. */
  until: number;
}

/**
 * Filters by the audience of events: the subscriptions that could get them. Forgets the oldest ones, and first those of the
 * same account, so that the many filters of one account do not replace those of others.
 */
export class KnownFilters {
  /** Oldest first. */
  private readonly byAudience = new Map<string, Known>();
  private readonly audiencesOf = new Map<string, Set<string>>();
  private readonly bytesOf = new Map<string, number>();
  private bytes = 0;

  /** @param now ms of a monotonic clock */
  constructor(private readonly now: () => number = () => performance.now()) {}

  get isEmpty(): boolean {
    return this.byAudience.size === 0;
  }

  get(audience: string): FilterSet | undefined {
    const known = this.byAudience.get(audience);
    if (!known || this.now() < known.until) return known?.set;
    this.forget(audience);
    return undefined;
  }

  set(audience: string, accountId: string, set: FilterSet): void {
    this.forget(audience);
    this.byAudience.set(audience, { set, accountId, until: this.now() + KNOWN_FOR_MS });
    const audiences = this.audiencesOf.get(accountId) ?? new Set();
    this.audiencesOf.set(accountId, audiences.add(audience));
    this.count(accountId, set.bytes);
    while (this.bytesOf.get(accountId)! > MOST_OF_ACCOUNT) this.forgetFirst(audiences);
    while (this.bytes > MOST) this.forgetFirst(this.byAudience.keys());
  }

  private forgetFirst(audiences: Iterable<string>): void {
    const [first] = audiences;
    if (first !== undefined) this.forget(first);
  }

  private forget(audience: string): void {
    const known = this.byAudience.get(audience);
    if (!known) return;
    const { accountId, set } = known;
    this.byAudience.delete(audience);
    this.audiencesOf.get(accountId)!.delete(audience);
    this.count(accountId, -set.bytes);
  }

  private count(accountId: string, bytes: number): void {
    this.bytes += bytes;
    const left = (this.bytesOf.get(accountId) ?? 0) + bytes;
    if (left > 0) {
      this.bytesOf.set(accountId, left);
    } else {
      this.bytesOf.delete(accountId);
      this.audiencesOf.delete(accountId);
    }
  }
}
