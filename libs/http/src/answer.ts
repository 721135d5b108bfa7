import type { Request, Response } from 'express';
import { entityTag } from './entity-tag.js';
import { hrefBuilder } from './request.js';
import type { View } from './view.js';

export const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * What a handler returns if its answer has more than a body. The HTTP adapter sends it, as it sends Nest's
 * `StreamableFile`. An interceptor would cost a read half of the time that NestJS takes, even an empty one.
 */
export class Answer {
  /** @param send sends it; `status` is the one of the route */
  constructor(
    readonly send: (request: Request, response: Response, status: number) => void | Promise<void>,
  ) {}
}

/** What an answer has besides its body. */
interface Head {
  /** By default the status of the route. */
  status?: number;
  /** For the `ETag`. */
  version?: number;
  location?: string;
  headers?: Readonly<Record<string, string>>;
}

class JsonAnswer extends Answer {
  constructor(
    readonly body: object,
    readonly head: Head,
  ) {
    super((_, response, status) => {
      const { headers = {} } = head;
      for (const name in headers) response.setHeader(name, headers[name]!);
      setHead(response, head);
      answerJson(response, JSON.stringify(body), head.status ?? status);
    });
  }
}

/** A body with headers. */
export function answer(body: object, head: Head): Answer {
  return new JsonAnswer(body, head);
}

/** The address of a resource that was created or started, also as `Location`. */
export function located(href: string, version?: number): Answer {
  return answer({ href }, { location: href, ...(version !== undefined && { version }) });
}

/** A resource as its view shows it. */
export function shown<Row>(view: View<Row>, row: Row, version?: number): Answer {
  return new Answer((request, response, status) => {
    setHead(response, version === undefined ? {} : { version });
    answerJson(response, view.text(row, hrefBuilder(request)), status);
  });
}

function setHead(response: Response, { version, location }: Head): void {
  if (version !== undefined) response.setHeader('ETag', entityTag(version));
  if (location !== undefined) response.setHeader('Location', location);
}

/** Answers with complete JSON text. */
export function answerJson(response: Response, text: string | Buffer, status = 200): void {
  answerText(response, text, { status, type: JSON_TYPE });
}

/** Answers with complete text. */
export function answerText(
  response: Response,
  text: string | Buffer,
  { status = 200, type }: { status?: number; type: string },
): void {
  startAnswer(response, { status, type });
  response.setHeader('Content-Length', Buffer.byteLength(text));
  response.end(text);
}

/** Begins an answer of text. */
export function startAnswer(
  response: Response,
  { status, type }: { status: number; type: string },
): void {
  response.statusCode = status;
  response.setHeader('Content-Type', type);
}
