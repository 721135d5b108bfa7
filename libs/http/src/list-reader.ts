import type { Request } from 'express';
import { type Found, inSlices, type Page, type Steps } from '#libs/kernel';
import { readFairly } from './in-flight.js';
import { type HrefBuilder, hrefBuilder } from './request.js';

/** How much of a list is read at a time. */
const CHUNK_BYTES = 128 << 10;
/** Rows of one query: of the first one, when their size is unknown, and the maximum. */
const FIRST_ROWS = 20;
const MAX_ROWS = 150;

export type ReadRows<Row> = (page: Page) => Promise<Row[] | Found<Row>>;

/** How a row becomes text, such as a `View`. */
interface Format<Row> {
  text: (row: Row, href: HrefBuilder) => string;
}

/** Rows of a list as text. */
interface Chunk {
  ids: string[];
  texts: string[];
  /** The id after which the list continues; absent at its end. */
  next?: string;
  /** Whether the query reached its row limit before it had found enough rows. */
  isCutShort: boolean;
}

/** Reads a list in queries whose rows add up to about one chunk. */
export class ListReader<Row extends { id: string }> {
  private rows = FIRST_ROWS;
  private readonly href: HrefBuilder;

  constructor(
    private readonly request: Request,
    private readonly rowsOf: ReadRows<Row>,
    private readonly format: Format<Row>,
  ) {
    this.href = hrefBuilder(request);
  }

  /** @param most rows */
  async next(after: string | undefined, most = MAX_ROWS): Promise<Chunk> {
    const wanted = Math.min(this.rows, most);
    // One extra row shows whether there is more.
    const page = { limit: wanted + 1, ...(after !== undefined && { after }) };
    const read = async (): Promise<Chunk> => {
      const found = await this.rowsOf(page);
      const { accountId = '' } = this.request;
      const rows = Array.isArray(found) ? { rows: found } : found;
      return await inSlices(accountId, this.chunkOf(rows, wanted));
    };
    const chunk = await readFairly(this.request, read);
    this.adapt(chunk.texts);
    return chunk;
  }

  private adapt(texts: readonly string[]): void {
    // What nothing was found in says nothing about the size of rows.
    if (texts.length === 0) return;
    const fitting = Math.floor((CHUNK_BYTES * texts.length) / Math.max(sizeOf(texts), 1));
    this.rows = Math.max(1, Math.min(fitting, 2 * this.rows, MAX_ROWS));
  }

  /** Discards rows beyond the chunk and reads them again later, because a client may read slowly. */
  private *chunkOf({ rows, stoppedAt }: Found<Row>, wanted: number): Steps<Chunk> {
    const chunk: Chunk = { ids: [], texts: [], isCutShort: false };
    let bytes = 0;
    for (const row of rows.slice(0, wanted)) {
      const text = this.format.text(row, this.href);
      chunk.ids.push(row.id);
      chunk.texts.push(text);
      bytes += Buffer.byteLength(text);
      if (bytes >= CHUNK_BYTES) break;
      yield;
    }
    const last = chunk.ids.at(-1);
    if (chunk.ids.length < rows.length && last !== undefined) chunk.next = last;
    else if (stoppedAt !== undefined) Object.assign(chunk, { next: stoppedAt, isCutShort: true });
    return chunk;
  }
}

export async function* chunksOf<Row extends { id: string }>(
  list: ListReader<Row>,
  { after: start, most = Infinity }: { after?: string | undefined; most?: number },
): AsyncGenerator<string[]> {
  let after = start;
  let left = most;
  do {
    const { texts, next } = await list.next(after, Math.min(left, MAX_ROWS));
    yield texts;
    left -= texts.length;
    after = next;
  } while (after !== undefined && left > 0);
}

export function sizeOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}
