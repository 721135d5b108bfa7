/**
 * Returns its values in a cycle. A value that is added comes last.
 *
 * Kept in arrays rather than in a `Map`, for the reason that {@link removeFrom} has.
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
