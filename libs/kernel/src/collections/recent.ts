/**
 * Remembers what was used last: at least `most` of it, at most twice as much. In two maps, since a
 * single one from which the oldest is always deleted walks over all that was deleted before it.
 */
export class Recent<Key, Value> {
  private recent = new Map<Key, Value>();
  private earlier = new Map<Key, Value>();

  constructor(private readonly most: number) {}

  get(key: Key): Value | undefined {
    const known = this.recent.get(key);
    if (known !== undefined) return known;
    const earlier = this.earlier.get(key);
    if (earlier !== undefined) this.set(key, earlier);
    return earlier;
  }

  set(key: Key, value: Value): void {
    if (this.recent.size >= this.most && !this.recent.has(key)) {
      this.earlier = this.recent;
      this.recent = new Map();
    }
    this.recent.set(key, value);
  }

  delete(key: Key): void {
    this.recent.delete(key);
    this.earlier.delete(key);
  }
}
