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
    // An iterator takes three times as long.
    for (let index = 0; index < bytes.length; index += 1) {
      const byte = bytes[index];
      if (byte === QUOTE && this.format === 'csv') this.isQuoted = !this.isQuoted;
      if (byte !== LINE_FEED || this.isQuoted) continue;
      this.lines += 1;
      this.lastAt = this.nextAt;
      this.nextAt = this.read + index + 1;
    }
    this.read += bytes.length;
  }
}
