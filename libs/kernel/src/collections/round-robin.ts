/** Values that are served one after the other, round after round; what is added comes last in a round. */
export class RoundRobin<Key, Value> {
  private readonly values = new Map<Key, Value>();
  /** Where the round is: an iterator of a map goes on through whatever is added and deleted. */
  private round = this.values.values();

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

  /** The one whose turn it is; undefined if there is none. */
  next(): Value | undefined {
    const turn = this.round.next();
    if (turn.done !== true) return turn.value;
    this.round = this.values.values();
    return this.round.next().value;
  }
}
