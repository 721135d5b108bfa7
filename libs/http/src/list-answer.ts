import { stringify } from 'node:querystring';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Request, Response } from 'express';
import { MAX_RETURNED_BYTES, type Page, timeOfId } from '#libs/kernel';
import { Answer, answerText, JSON_TYPE, startAnswer } from './answer.js';
import { type ExportFormat, exportFormatOf, exportTypeOf } from './export-formats.js';
import { ARRAY, joined, laidOut, type Layout, LINES } from './list-layout.js';
import { chunksOf, ListReader, type ReadRows, sizeOf } from './list-reader.js';
import { endOf, hrefBuilder, pathOf } from './request.js';
import type { View } from './view.js';

/** Longer answers are streamed. */
const WHOLE_BYTES = 256 << 10;

/**
 * Answers with text, by default JSON, that is generated in pieces as the client reads it. A short text is sent whole; of a
 * long one, only the next pieces are in memory.
 */
export async function answerPieces(
  request: Request,
  response: Response,
  pieces: AsyncGenerator<string>,
  status = 200,
  type = JSON_TYPE,
): Promise<void> {
  // Until the first byte is sent, a failure can still become an error answer.
  let start = '';
  while (start.length <= WHOLE_BYTES) {
    const piece = await pieces.next();
    if (piece.done === true) {
      answerText(response, start, { status, type });
      return;
    }
    start += piece.value;
    request.inFlight?.hold(start.length);
  }
  startAnswer(response, { status, type });
  response.write(start);
  start = '';
  request.inFlight?.hold(0);
  await sendPieces(request, response, pieces);
}

/** Sends the rest of an answer as the client reads it. */
async function sendPieces(
  request: Request,
  response: Response,
  pieces: AsyncGenerator<string>,
): Promise<void> {
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
interface NestedList<Row> {
  name: string;
  read: ReadRows<Row>;
  view: View<Row>;
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
  { name, others, read, view, ...span }: NestedList<Row>,
  request: Request,
): AsyncGenerator<string> {
  yield `${text.slice(0, -1)},"${name}":`;
  yield* joined(chunksOf(new ListReader(request, read, view), span));
  yield others ? `,${JSON.stringify(others).slice(1)}` : '}';
}

/**
 * A list as a bare array. With `limit` it is one page, with `Link: <…>; rel="next"` if there is more; without it,
 * it is the whole list, which is read as it is sent.
 */
export function listed<Row extends { id: string }>(
  page: Partial<Page>,
  read: ReadRows<Row>,
  view: View<Row>,
): Answer {
  return new Answer((request, response) =>
    answerList(new ListReader(request, read, view), request, response, page),
  );
}

/**
 * A page like {@link listed}, or an export of the list, if that is what the request prefers to accept.
 * @param name of its file
 */
export function listedOrExported<Row extends { id: string }>(
  page: Page,
  read: ReadRows<Row>,
  view: View<Row>,
  name: string,
): Answer {
  return new Answer((request, response) => {
    response.vary('Accept');
    const type = exportTypeOf(request);
    if (type === undefined) {
      return answerList(new ListReader(request, read, view), request, response, page);
    }
    const format = exportFormatOf(type, view);
    return answerExport(request, response, page, { read, name, format });
  });
}

/** A part of a list that grows at its end, oldest first. A cursor is the id after which it goes on. */
interface FollowedPart<Row> {
  /** The cursor with which it begins. */
  after: string;
  /** The cursor to go on with after all of its rows. */
  end: string;
  read: ReadRows<Row>;
}

/**
 * A page of a list that grows at its end, as an array or, if the request prefers that, as lines. It says in
 * `Switchhook-Cursor` and `Link` where to go on, even if nothing is there yet, and ends at about 1 MiB.
 * @param open called once the answer may wait; the signal is the end of the request
 */
export function followed<Row extends { id: string }>(
  limit: number,
  open: (end: AbortSignal) => Promise<FollowedPart<Row>>,
  view: View<Row>,
): Answer {
  return new Answer(async (request, response) => {
    response.vary('Accept');
    const isLines = exportTypeOf(request) === LINES.type;
    const { read, ...span } = await open(endOf(response));
    const format = isLines ? exportFormatOf('application/x-ndjson', view) : view;
    const layout = isLines ? LINES : ARRAY;
    await answerPage(new ListReader(request, read, format), request, response, {
      ...{ limit, layout, ...span },
    });
  });
}

function answerList<Row extends { id: string }>(
  list: ListReader<Row>,
  request: Request,
  response: Response,
  { limit, after }: Partial<Page>,
): Promise<void> {
  return limit === undefined
    ? answerPieces(request, response, joined(chunksOf(list, { after })))
    : answerPage(list, request, response, { limit, after, layout: ARRAY });
}

/** An exported list, and the name of its file. */
interface Exported<Row> {
  read: ReadRows<Row>;
  name: string;
  format: ExportFormat<Row>;
}

async function answerExport<Row extends { id: string }>(
  request: Request,
  response: Response,
  { limit, after }: Page,
  { read, name, format }: Exported<Row>,
): Promise<void> {
  const list = new ListReader(request, read, format);
  const lines = linesOf(format.header, chunksOf(list, { after, most: limit }), response);
  // Nothing is sent before the first rows are read, so that a failure can still become an error answer. Then the head
  // is sent even without a row, so that a client knows that a long search has begun.
  const first = request.method === 'HEAD' ? undefined : await lines.next();
  response.statusCode = 200;
  response.setHeader('Content-Type', format.contentType);
  response.setHeader('Content-Disposition', `attachment; filename="${name}.${format.extension}"`);
  if (!first) {
    response.end();
    return;
  }
  response.flushHeaders();
  if (first.value) response.write(first.value);
  await sendPieces(request, response, lines);
}

async function* linesOf(
  header: string,
  chunks: AsyncGenerator<string[]>,
  response: Response,
): AsyncGenerator<string, undefined> {
  let isFirst = true;
  for await (const texts of chunks) {
    if (isFirst) yield header + texts.join('');
    else if (response.destroyed) return;
    // A part of a search in which nothing is found.
    else if (texts.length > 0) yield texts.join('');
    isFirst = false;
  }
}

/** A page of a list. */
interface PageAnswer {
  limit: number;
  after: string | undefined;
  layout: Layout;
  /** For a list that is followed: where to go on at its end. */
  end?: string;
}

async function answerPage<Row extends { id: string }>(
  list: ListReader<Row>,
  request: Request,
  response: Response,
  { limit, after, layout, end }: PageAnswer,
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
    if (next !== undefined && chunk.isCutShort) {
      if (end === undefined) {
        response.setHeader('Switchhook-Searched-To', timeOfId(next).toISOString());
      }
      break;
    }
    if (end !== undefined && bytes >= MAX_RETURNED_BYTES) break;
  } while (next !== undefined && ids.length < limit);
  const cursor = next ?? end;
  if (cursor !== undefined) {
    response.setHeader('Link', `<${nextAddress(request, cursor)}>; rel="next"`);
    if (end !== undefined) response.setHeader('Switchhook-Cursor', cursor);
  }
  const { type } = layout;
  if (bytes <= WHOLE_BYTES) answerText(response, laidOut(texts, layout), { type });
  else {
    const pieces = joined(chunksAmong(list, ids, after), layout);
    await answerPieces(request, response, pieces, 200, type);
  }
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

function nextAddress(request: Request, after: string): string {
  const query = stringify({ ...request.query, after });
  const segments = pathOf(request)
    .replace(/^\/v1\//, '')
    .replace(/\/$/, '');
  return `${hrefBuilder(request)(segments)}?${query}`;
}
