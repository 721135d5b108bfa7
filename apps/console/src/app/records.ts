export type ExportFormat = 'csv' | 'ndjson';

const LINE_FEED = 10;
const QUOTE = 34;

/** Counts the records of an exported file as its bytes arrive. */
export class RecordCounter {
  /** Where the last one begins, in bytes. */
  lastAt = 0;
  private lines = 0;
  private read = 0;
  private nextAt = 0;
  private isQuoted = false;

  constructor(private readonly format: ExportFormat) {}

  /** How many records are complete. The first line of a CSV file is its header. */
  get count(): number {
    return this.format === 'csv' ? Math.max(this.lines - 1, 0) : this.lines;
  }

  add(bytes: Uint8Array): void {
    for (const byte of bytes) {
      this.read += 1;
      if (byte === QUOTE && this.format === 'csv') this.isQuoted = !this.isQuoted;
      if (byte !== LINE_FEED || this.isQuoted) continue;
      this.lines += 1;
      this.lastAt = this.nextAt;
      this.nextAt = this.read;
    }
  }
}
