import { Filter, Filters } from '../../event-kinds/domain/filter.js';
import { verdictsOf } from './accept-events.statements.js';

/** Characters of filters to remember: of all accounts, and of one, which has room for twenty of 4 KB. */
const MOST = 1 << 20;
const MOST_OF_ACCOUNT = 128 << 10;
/** What a set of filters counts besides. */
const OVERHEAD = 100;
/** Filters are read again after this long, or those that were removed would be judged for ever. */
const KNOWN_FOR_MS = 600_000;

/** The filters of the subscriptions that could get an event. */
export class FilterSet {
  readonly characters: number;
  private readonly ids: string[];
  private readonly filters: Filters;

  constructor(texts: readonly string[]) {
    const filters = texts.map((text) => new Filter(text));
    this.characters = texts.reduce((sum, { length }) => sum + length, OVERHEAD);
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
 * Filters by kinds of events. Forgets the oldest ones, and first those of the same account, so that the many filters of
 * one account do not replace those of others.
 */
export class KnownFilters {
  /** Oldest first. */
  private readonly byKind = new Map<string, Known>();
  private readonly kindsOf = new Map<string, Set<string>>();
  private readonly charactersOf = new Map<string, number>();
  private characters = 0;

  /** @param now ms of a monotonic clock */
  constructor(private readonly now: () => number = () => performance.now()) {}

  get isEmpty(): boolean {
    return this.byKind.size === 0;
  }

  get(kind: string): FilterSet | undefined {
    const known = this.byKind.get(kind);
    if (!known || this.now() < known.until) return known?.set;
    this.forget(kind);
    return undefined;
  }

  set(kind: string, accountId: string, set: FilterSet): void {
    this.forget(kind);
    this.byKind.set(kind, { set, accountId, until: this.now() + KNOWN_FOR_MS });
    const kinds = this.kindsOf.get(accountId) ?? new Set();
    this.kindsOf.set(accountId, kinds.add(kind));
    this.count(accountId, set.characters);
    while (this.charactersOf.get(accountId)! > MOST_OF_ACCOUNT) this.forgetFirst(kinds);
    while (this.characters > MOST) this.forgetFirst(this.byKind.keys());
  }

  private forgetFirst(kinds: Iterable<string>): void {
    const [first] = kinds;
    if (first !== undefined) this.forget(first);
  }

  private forget(kind: string): void {
    const known = this.byKind.get(kind);
    if (!known) return;
    const { accountId, set } = known;
    this.byKind.delete(kind);
    this.kindsOf.get(accountId)!.delete(kind);
    this.count(accountId, -set.characters);
  }

  private count(accountId: string, characters: number): void {
    this.characters += characters;
    const left = (this.charactersOf.get(accountId) ?? 0) + characters;
    if (left > 0) {
      this.charactersOf.set(accountId, left);
    } else {
      this.charactersOf.delete(accountId);
      this.kindsOf.delete(accountId);
    }
  }
}
