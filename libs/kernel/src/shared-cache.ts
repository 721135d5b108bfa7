interface Entry<Value> {
  value: Value;
  party: string;
  size: number;
}

/** What is kept of a party. */
interface Share<Key> {
  /** Oldest first. */
  keys: Set<Key>;
  size: number;
}

/** The share of the cache that is left after something was forgotten, so that choosing it costs each entry little. */
const LEFT = 0.9;

/**
 * A cache that parties share. If too much is in it, it forgets the oldest entries of those that have most, so that no party can
 * replace the few entries of others.
 */
export class SharedCache<Key, Value> {
  private readonly entries = new Map<Key, Entry<Value>>();
  private readonly shares = new Map<string, Share<Key>>();
  private size = 0;

  /**
   * @param most the size of all entries at most
   * @param sizeOf the size of an entry; by default each counts as one
   */
  constructor(
    private readonly most: number,
    private readonly sizeOf: (value: Value) => number = () => 1,
  ) {}

  get isEmpty(): boolean {
    return this.entries.size === 0;
  }

  get(key: Key): Value | undefined {
    return this.entries.get(key)?.value;
  }

  /** Keeps a value as the newest of its party. */
  set(key: Key, party: string, value: Value): void {
    this.delete(key);
    const size = this.sizeOf(value);
    this.entries.set(key, { value, party, size });
    const share = this.shares.get(party) ?? { keys: new Set(), size: 0 };
    this.shares.set(party, share);
    share.keys.add(key);
    share.size += size;
    this.size += size;
    if (this.size > this.most) this.forgetSome();
  }

  delete(key: Key): void {
    const entry = this.entries.get(key);
    if (!entry) return;
    const share = this.shares.get(entry.party)!;
    this.entries.delete(key);
    share.keys.delete(key);
    share.size -= entry.size;
    this.size -= entry.size;
    if (share.keys.size === 0) this.shares.delete(entry.party);
  }

  private forgetSome(): void {
    const left = this.most * LEFT;
    const largestFirst = [...this.shares.values()].sort((one, other) => other.size - one.size);
    const level = levelOf(
      largestFirst.map(({ size }) => size),
      this.size - left,
    );
    for (const share of largestFirst) {
      for (const key of share.keys) {
        if (share.size <= level || this.size <= left) break;
        this.delete(key);
      }
    }
  }
}

/** To which size shares have to be cut for a sum to fall by `excess`. @param sizes the largest first */
function levelOf(sizes: readonly number[], excess: number): number {
  let sum = 0;
  for (const [index, size] of sizes.entries()) {
    sum += size;
    const level = (sum - excess) / (index + 1);
    if (level >= (sizes[index + 1] ?? 0)) return level;
  }
  return 0;
}
