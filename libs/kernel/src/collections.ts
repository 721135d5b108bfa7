/** Removes the oldest entries of a map until at most `most` are left. */
export function evictOldest(map: Map<unknown, unknown>, most: number): void {
  for (const oldest of map.keys()) {
    if (map.size <= most) return;
    map.delete(oldest);
  }
}

/**
 * Removes an item from an unordered array.
 *
 * What is in flight belongs in an array rather than in a `Set` or `Map`. After some additions and removals, V8
 * gives these a new table, and the old one refers to it. Once an old table has been promoted to the old
 * generation, it keeps all tables after it and everything in them alive until the next full garbage collection.
 */
export function swapRemove<Item>(items: Item[], item: Item): void {
  const at = items.indexOf(item);
  if (at === -1) return;
  const last = items.pop()!;
  if (at < items.length) items[at] = last;
}

/**
 * Returns its values in a cycle. A value that is added comes last.
 *
 * Kept in arrays rather than in a `Map`, for the reason that {@link swapRemove} has.
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
