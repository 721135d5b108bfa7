/** Rows of one statement. */
const BATCH = 1_000;

/** A stored row, and how much to add to its counts. */
export interface PendingRow<Key, Counts> {
  key: Key;
  counts: Counts;
}

/**
 * Counts in memory that are added to stored rows from time to time, off the path of an event. What is not stored when
 * the process is killed is lost.
 */
export class PendingCounts<Key, Counts extends Record<keyof Counts, number>> {
  private readonly rows = new Map<string, PendingRow<Key, Counts>>();

  /** @param store adds rows to the stored ones. They are in the same order in each process, which prevents deadlocks */
  constructor(
    private readonly nothing: Counts,
    private readonly store: (rows: readonly PendingRow<Key, Counts>[]) => Promise<void>,
  ) {}

  /** @param name of the row: the parts of its key, joined */
  add(name: string, key: Key, more: Partial<Counts>): void {
    let row = this.rows.get(name);
    if (!row) this.rows.set(name, (row = { key, counts: { ...this.nothing } }));
    for (const count of Object.keys(more) as (keyof Counts)[]) {
      row.counts[count] = (row.counts[count] + more[count]!) as Counts[keyof Counts];
    }
  }

  /** Stores the counts. Those that could not be stored are kept for the next time. */
  async flush(): Promise<void> {
    const all = [...this.rows].sort(([one], [other]) => (one < other ? -1 : 1));
    for (let start = 0; start < all.length; start += BATCH) {
      // Another flush may have stored some of them meanwhile.
      const batch = all
        .slice(start, start + BATCH)
        .filter(([name, row]) => this.rows.get(name) === row);
      if (batch.length === 0) continue;
      for (const [name] of batch) this.rows.delete(name);
      try {
        await this.store(batch.map(([, row]) => row));
      } catch (error) {
        for (const [name, { key, counts }] of batch) this.add(name, key, counts);
        throw error;
      }
    }
  }
}
