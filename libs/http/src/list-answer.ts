import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Request, Response } from 'express';
import type { Found, Page } from '#libs/kernel';
import { Answer, answerJson, startJson } from './answer.js';
import { readFairly } from './in-flight.js';
import { type HrefBuilder, hrefBuilder, pathOf } from './request.js';
import type { View } from './view.js';

/** Longer answers are streamed. */
const WHOLE_BYTES = 256 << 10;
/** How much of a list is read at a time. */
const CHUNK_BYTES = 128 << 10;
/** Rows of one query: of the first one, when their size is unknown, and the maximum. */
const FIRST_ROWS = 20;
const MAX_ROWS = 500;

/** Reads the rows of a list and formats them. */
interface Source<Row> {
  read: (page: Page) => Promise<Row[] | Found<Row>>;
  view: View<Row>;
}

/** Rows of a list as JSON. */
interface Chunk {
  ids: string[];
  texts: string[];
  /** The id after which the list continues; absent at its end. */
  next?: string;
  /** Whether the query reached its row limit before it had found enough rows. */
  isCutShort: boolean;
}

/**
 * Answers with JSON text that is generated in pieces as the client reads it. A short text is sent whole; of a
 * long one, only the next pieces are in memory.
 */
export async function answerPieces(
  request: Request,
  response: Response,
  pieces: AsyncGenerator<string>,
): Promise<void> {
  // Until the first byte is sent, a failure can still become an error answer.
  let start = '';
  while (start.length <= WHOLE_BYTES) {
    const piece = await pieces.next();
    if (piece.done === true) {
      answerJson(response, start);
      return;
    }
    start += piece.value;
    request.inFlight?.hold(start.length);
  }
  response.statusCode = 200;
  startJson(response);
  response.write(start);
  start = '';
  request.inFlight?.hold(0);
  // Ours and those of `pipeline` are more than the ten after which Node warns of a leak.
  response.setMaxListeners(20);
  // Nothing is read ahead: a client that does not read would keep it in memory.
  const options = { objectMode: false, highWaterMark: 0 };
  try {
    await pipeline(Readable.from(pieces, options), response);
  } catch (error) {
    // The client has disconnected, or a page failed, which the client notices by the truncated text.
    request.socket.destroy();
    if ((error as { code?: string }).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  }
}

/** A list inside another resource. */
interface NestedList<Row> extends Source<Row> {
  name: string;
  /** The id after which it begins. */
  after?: string;
  /** How many rows it has at most. */
  most?: number;
  /** Members that follow it. */
  others?: object;
}

/** A resource as its view shows it, and a list, which is read as it is sent. */
export function shownWithList<Row, Inner extends { id: string }>(
  view: View<Row>,
  row: Row,
  list: NestedList<Inner>,
): Answer {
  return new Answer((request, response) => {
    const text = view.text(row, hrefBuilder(request));
    return answerPieces(request, response, piecesOf(text, list, request));
  });
}

async function* piecesOf<Row extends { id: string }>(
  text: string,
  { name, others, ...list }: NestedList<Row>,
  request: Request,
): AsyncGenerator<string> {
  yield `${text.slice(0, -1)},"${name}":`;
  yield* joined(chunksOf(new ListReader(request, list), list));
  yield others ? `,${JSON.stringify(others).slice(1)}` : '}';
}

/**
 * A list as a bare array. With `limit` it is one page, with `Link: <…>; rel="next"` if there is more; without it,
 * it is the whole list, which is read as it is sent.
 */
export function listed<Row extends { id: string }>(
  page: Partial<Page>,
  read: Source<Row>['read'],
  view: View<Row>,
): Answer {
  return new Answer((request, response) => {
    const list = new ListReader(request, { read, view });
    const { limit, after } = page;
    return limit === undefined
      ? answerPieces(request, response, joined(chunksOf(list, { after })))
      : answerPage(list, request, response, { limit, after });
  });
}

async function answerPage<Row extends { id: string }>(
  list: ListReader<Row>,
  request: Request,
  response: Response,
  { limit, after }: { limit: number; after: string | undefined },
): Promise<void> {
  const ids: string[] = [];
  let texts: string[] = [];
  let bytes = 0;
  let next = after;
  do {
    const chunk = await list.next(next, limit - ids.length);
    ids.push(...chunk.ids);
    texts.push(...chunk.texts);
    bytes += sizeOf(chunk.texts);
    if (bytes > WHOLE_BYTES) texts = [];
    request.inFlight?.hold(texts.length === 0 ? 0 : bytes);
    next = chunk.next;
    if (chunk.isCutShort) break;
  } while (next !== undefined && ids.length < limit);
  if (next !== undefined) {
    response.setHeader('Link', `<${nextAddress(request, next)}>; rel="next"`);
  }
  if (bytes <= WHOLE_BYTES) answerJson(response, `[${texts.join(',')}]`);
  else await answerPieces(request, response, joined(chunksAmong(list, ids, after)));
}

/** Reads a list in queries whose rows add up to about one chunk. */
class ListReader<Row extends { id: string }> {
  private rows = FIRST_ROWS;
  private readonly href: HrefBuilder;

  constructor(
    private readonly request: Request,
    private readonly source: Source<Row>,
  ) {
    this.href = hrefBuilder(request);
  }

  /** @param most rows */
  async next(after: string | undefined, most = MAX_ROWS): Promise<Chunk> {
    const wanted = Math.min(this.rows, most);
    // One extra row shows whether there is more.
    const page = { limit: wanted + 1, ...(after !== undefined && { after }) };
    const read = async (): Promise<Chunk> => {
      const found = await this.source.read(page);
      return this.chunkOf(Array.isArray(found) ? { rows: found } : found, wanted);
    };
    const chunk = await readFairly(this.request, read);
    const count = chunk.ids.length;
    const fitting = Math.floor((CHUNK_BYTES * count) / Math.max(sizeOf(chunk.texts), 1));
    this.rows = Math.max(1, Math.min(fitting, 2 * this.rows, MAX_ROWS));
    return chunk;
  }

  /** Discards rows beyond the chunk and reads them again later, because a client may read slowly. */
  private chunkOf({ rows, stoppedAt }: Found<Row>, wanted: number): Chunk {
    const chunk: Chunk = { ids: [], texts: [], isCutShort: false };
    let bytes = 0;
    for (const row of rows.slice(0, wanted)) {
      const text = this.source.view.text(row, this.href);
      chunk.ids.push(row.id);
      chunk.texts.push(text);
      bytes += Buffer.byteLength(text);
      if (bytes >= CHUNK_BYTES) break;
    }
    const last = chunk.ids.at(-1);
    if (chunk.ids.length < rows.length && last !== undefined) chunk.next = last;
    else if (stoppedAt !== undefined) Object.assign(chunk, { next: stoppedAt, isCutShort: true });
    return chunk;
  }
}

async function* chunksOf<Row extends { id: string }>(
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

/** The rows of a list with these ids, except rows deleted meanwhile. */
async function* chunksAmong<Row extends { id: string }>(
  list: ListReader<Row>,
  ids: readonly string[],
  start: string | undefined,
): AsyncGenerator<string[]> {
  const wanted = new Set(ids);
  const last = ids.at(-1)!;
  const direction = compareIds(last, ids[0]!);
  let after = start;
  do {
    const { ids: found, texts, next } = await list.next(after);
    yield texts.filter((_, index) => wanted.has(found[index]!));
    // The row with the last id may be deleted.
    after = next !== undefined && compareIds(next, last) * direction < 0 ? next : undefined;
  } while (after !== undefined);
}

/** Works for numbers and for UUIDs. */
function compareIds(one: string, other: string): number {
  if (one.length !== other.length) return one.length - other.length;
  return one < other ? -1 : Number(one > other);
}

async function* joined(chunks: AsyncGenerator<string[]>): AsyncGenerator<string> {
  let opening = '[';
  for await (const texts of chunks) {
    if (texts.length === 0) continue;
    yield opening + texts.join(',');
    opening = ',';
  }
  yield opening === '[' ? '[]' : ']';
}

function sizeOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

function nextAddress(request: Request, after: string): string {
  const path = pathOf(request);
  const query = new URLSearchParams(request.url.slice(path.length));
  query.set('after', after);
  const segments = path.replace(/^\/v1\//, '').replace(/\/$/, '');
  return `${hrefBuilder(request)(segments)}?${query.toString()}`;
}
