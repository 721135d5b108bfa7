import { parsed } from '../input.js';

/** The format of an exported file. */
export type ExportFormat = 'ndjson' | 'csv';

const LINE_FEED = 0x0a;
const QUOTE = 0x22;
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;
/** Its id is the first member, or the first cell, of a record. */
const START_BYTES = 60;
const RECORD_START = '{"id":"';

/** Finds the records of an export: lines, which in CSV may have line breaks in quotes. */
export class RecordSplitter {
  /** Complete records, without the header of CSV. */
  count = 0;
  /** The bytes of complete records, with the header. */
  bytes = 0;
  /** The id of the last complete record. */
  lastId: string | undefined;
  private firstLine: string | undefined;
  private rest = Buffer.alloc(0);
  private isQuoted = false;
  private hasHeader: boolean;

  constructor(private readonly format: ExportFormat) {
    this.hasHeader = format === 'csv';
  }

  /** The first line, as far as it is known: the header of CSV, or the first record. */
  get beginning(): string {
    return this.firstLine ?? this.rest.toString();
  }

  /** Takes the next bytes. @returns those of the header and of the records that are complete now */
  add(chunk: Buffer): { header: Buffer; rows: Buffer } {
    const all = Buffer.concat([this.rest, chunk]);
    let start = 0;
    let header = 0;
    for (let at = this.rest.length; at < all.length; at += 1) {
      if (all[at] === QUOTE && this.format === 'csv') this.isQuoted = !this.isQuoted;
      if (all[at] !== LINE_FEED || this.isQuoted) continue;
      this.firstLine ??= all.toString('utf8', start, at + 1);
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

/** Whether NDJSON that begins with this line is an export of this list, with this member besides the usual ones. */
export function isRecordOf(line: string, path: string, include: string | undefined): boolean {
  if (!line.endsWith('\n')) return RECORD_START.startsWith(line.slice(0, RECORD_START.length));
  const record = (parsed(line) ?? {}) as { href?: unknown };
  return (
    typeof record.href === 'string' &&
    record.href.includes(`/${path}/`) &&
    ['data', 'notification'].every((name) => name in record === (name === include))
  );
}
