import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Request, Response } from 'express';
import type { Page } from '../paging/page.js';
import { hrefBuilder } from './href.js';
import { pathOf } from './request.js';

const JSON_TYPE = 'application/json; charset=utf-8';
/** Rows of a page when the whole list is streamed. */
const STREAM_PAGE = 500;

/** A row as it is shown: an object, or JSON text where parts of it must stay as they were sent. */
export type Shown = object | string;

/** Answers with JSON text that is ready. */
export function answerJson(response: Response, text: string | Buffer, status = 200): void {
  response.statusCode = status;
  response.setHeader('Content-Type', JSON_TYPE);
  response.setHeader('Content-Length', Buffer.byteLength(text));
  response.end(text);
}

/** One page of a list, as a bare array, with `Link: <…>; rel="next"` while there is more. */
export async function answerPage<Row extends { id: string }>(
  request: Request,
  response: Response,
  page: Page,
  read: (page: Page) => Promise<Row[]>,
  show: (row: Row) => Shown,
): Promise<void> {
  const rows = await read({ ...page, limit: page.limit + 1 });
  const shown = rows.slice(0, page.limit);
  const last = shown.at(-1);
  if (rows.length > page.limit && last) {
    response.setHeader('Link', `<${nextAddress(request, last.id)}>; rel="next"`);
  }
  answerJson(response, `[${elements(shown, show)}]`);
}

/**
 * A list: with `limit` one page; without it the whole, read in keyset pages and streamed, so that
 * memory stays flat and no connection to the database is held while a slow client reads.
 */
export async function answerList<Row extends { id: string }>(
  request: Request,
  response: Response,
  page: Partial<Page>,
  read: (page: Page) => Promise<Row[]>,
  show: (row: Row) => Shown,
): Promise<void> {
  const { limit, after } = page;
  if (limit !== undefined) {
    await answerPage(request, response, { ...page, limit }, read, show);
    return;
  }
  // The first page is read before the first byte, so that a failure is still a proper answer.
  const first = await read({ limit: STREAM_PAGE, ...(after !== undefined && { after }) });
  if (first.length < STREAM_PAGE) {
    answerJson(response, `[${elements(first, show)}]`);
    return;
  }
  response.status(200).setHeader('Content-Type', JSON_TYPE);
  try {
    await pipeline(Readable.from(chunks(first, read, show)), response);
  } catch (error) {
    // The client went away, or a page failed: the broken-off array tells of the latter.
    request.socket.destroy();
    if ((error as { code?: string }).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  }
}

async function* chunks<Row extends { id: string }>(
  first: Row[],
  read: (page: Page) => Promise<Row[]>,
  show: (row: Row) => Shown,
): AsyncGenerator<string> {
  let rows = first;
  let opening = '[';
  for (;;) {
    if (rows.length > 0) yield opening + elements(rows, show);
    const last = rows.at(-1);
    if (rows.length < STREAM_PAGE || !last) break;
    opening = ',';
    rows = await read({ limit: STREAM_PAGE, after: last.id });
  }
  yield ']';
}

function elements<Row>(rows: Row[], show: (row: Row) => Shown): string {
  const texts = rows.map((row) => {
    const shown = show(row);
    return typeof shown === 'string' ? shown : JSON.stringify(shown);
  });
  return texts.join(',');
}

function nextAddress(request: Request, after: string): string {
  const path = pathOf(request);
  const query = new URLSearchParams(request.url.slice(path.length));
  query.set('after', after);
  const segments = path.replace(/^\/v1\//, '').replace(/\/$/, '');
  return `${hrefBuilder(request)(segments)}?${query.toString()}`;
}
