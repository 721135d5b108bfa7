/** Returns its values in a cycle. A value that is added comes last. */
export class RoundRobin<Key, Value> {
  private readonly values = new Map<Key, Value>();
  /** A map's iterator stays valid when entries are added and deleted. */
  private cursor = this.values.values();

  get size(): number {
    return this.values.size;
  }

  get(key: Key): Value | undefined {
    return this.values.get(key);
  }

  add(key: Key, value: Value): void {
    this.values.set(key, value);
  }

  remove(key: Key): void {
    this.values.delete(key);
  }

  /** The next value; undefined if there is none. */
  next(): Value | undefined {
    const result = this.cursor.next();
    if (result.done !== true) return result.value;
    this.cursor = this.values.values();
    return this.cursor.next().value;
  }
}
