/** Groups items by a key and keeps their order within each group. */
export function groupBy<Item, Key>(
  items: Iterable<Item>,
  keyOf: (item: Item) => Key,
): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}

/** Removes the oldest entries of a map until at most `most` are left. */
export function evictOldest(map: Map<unknown, unknown>, most: number): void {
  for (const oldest of map.keys()) {
    if (map.size <= most) return;
    map.delete(oldest);
  }
}

/**
 * Removes an item from an unordered array by moving the last one to its place.
 *
 * Work in flight belongs in an array rather than in a `Set` or `Map`. V8 rehashes these into a new table, to
 * which the old one refers. An old table in the old generation keeps all later tables and everything in them
 * alive until the next full garbage collection.
 */
export function swapRemove<Item>(items: Item[], item: Item): void {
  const at = items.indexOf(item);
  if (at === -1) return;
  const last = items.pop()!;
  if (at < items.length) items[at] = last;
}

/**
 * Returns its values in a cycle. A new value comes last. Uses arrays for the reason given at {@link swapRemove}.
 */
export class RoundRobin<Key, Value> {
  private readonly keys: Key[] = [];
  private readonly values: Value[] = [];
  private nextAt = 0;

  get size(): number {
    return this.keys.length;
  }

  get(key: Key): Value | undefined {
    return this.values[this.keys.indexOf(key)];
  }

  add(key: Key, value: Value): void {
    const at = this.keys.indexOf(key);
    if (at >= 0) {
      this.values[at] = value;
      return;
    }
    this.keys.push(key);
    this.values.push(value);
  }

  remove(key: Key): void {
    const at = this.keys.indexOf(key);
    if (at < 0) return;
    this.keys.splice(at, 1);
    this.values.splice(at, 1);
    if (at < this.nextAt) this.nextAt -= 1;
  }

  /** The next value; undefined if there is none. */
  next(): Value | undefined {
    if (this.nextAt >= this.size) this.nextAt = 0;
    return this.size > 0 ? this.values[this.nextAt++] : undefined;
  }
}
