/** The format of an exported file. */
export type ExportFormat = 'ndjson' | 'csv';

const LINE_FEED = 0x0a;
const QUOTE = 0x22;
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;
/** Its id is the first member, or the first cell, of a record. */
const START_BYTES = 60;

/** Finds the records of an export: lines, which in CSV may have line breaks in quotes. */
export class RecordSplitter {
  /** Complete records, without the header of CSV. */
  count = 0;
  /** The bytes of complete records, with the header. */
  bytes = 0;
  /** The id of the last complete record. */
  lastId: string | undefined;
  private rest = Buffer.alloc(0);
  private isQuoted = false;
  private hasHeader: boolean;

  constructor(private readonly format: ExportFormat) {
    this.hasHeader = format === 'csv';
  }

  /** Takes the next bytes. @returns those of the header and of the records that are complete now */
  add(chunk: Buffer): { header: Buffer; rows: Buffer } {
    const all = Buffer.concat([this.rest, chunk]);
    let start = 0;
    let header = 0;
    for (let at = this.rest.length; at < all.length; at += 1) {
      if (all[at] === QUOTE && this.format === 'csv') this.isQuoted = !this.isQuoted;
      if (all[at] !== LINE_FEED || this.isQuoted) continue;
      if (this.hasHeader) {
        this.hasHeader = false;
        header = at + 1;
      } else {
        this.count += 1;
        [this.lastId] = UUID.exec(all.toString('latin1', start, start + START_BYTES)) ?? [];
      }
      start = at + 1;
    }
    this.bytes += start;
    this.rest = all.subarray(start);
    return { header: all.subarray(0, header), rows: all.subarray(header, start) };
  }
}

/** The time in an id, whose first 48 bits are ms since 1970. */
export function timeOf(id: string): Date {
  return new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16));
}
