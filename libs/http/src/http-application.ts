import {
  createServer,
  type IncomingMessage,
  METHODS,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import type { DynamicModule, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter, type NestExpressApplication } from '@nestjs/platform-express';
import { randomUUID } from 'node:crypto';
import type { Express, Response } from 'express';
import { DomainError } from '#libs/kernel';
import { CONFIG, type Config, Metrics, NestLog, StartLog, Tracing } from '#libs/runtime';
import { LIMITS, limitConnections } from './connection-limits.js';
import { leaveContinueToRoutes } from './continue.js';
import { corsFor } from './cors.js';
import { messagesFor } from './http-messages.js';
import { answerJson } from './list-answer.js';
import { closeLingering, isEnding, linger } from './lingering-close.js';
import { closeOrderly } from './orderly-close.js';
import { limitPipeline } from './pipeline-limit.js';
import { PROBLEM_TYPE, problemOf, STATUS_OF } from './problem.js';
import { ProblemFilter } from './problem.filter.js';
import { requestMiddleware, saneRequestId } from './request.middleware.js';
import { breakBody } from './read-body.js';
import { RequestLog } from './request-log.js';
import { traceRequests } from './trace-requests.js';

/** Express on a server that answers in our error shape whatever is sent to it. */
class HttpAdapter extends ExpressAdapter {
  override initHttpServer(): void {
    const handle = this.getInstance<Express>();
    // The setting "case sensitive routing" would come too late: Nest has made the router already.
    (handle.router as unknown as { caseSensitive: boolean }).caseSensitive = true;
    // A request without Host is answered like any other: clients of HTTP/1.0 send none.
    const options = {
      requireHostHeader: false,
      insecureHTTPParser: false,
      ...LIMITS,
      ...messagesFor(handle),
    };
    const server = createServer(options, (request, response) => {
      if (isEnding(request.socket)) return;
      limitPipeline(request.socket, response);
      handle(request, response);
    });
    server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
      server.emit('request', request, response);
    });
    leaveContinueToRoutes(server);
    closeLingering(server);
    refuseMalformedRequests(server);
    this.httpServer = server;
  }

  /**
   * What handlers return is JSON, so it is written as such. Express looks at the type first, at the
   * charset in it, and whether the client has the answer already: 4 % of what an event takes here.
   */
  override reply(response: Response, body: unknown, statusCode?: number): unknown {
    const isOurs = typeof body === 'object' && body?.constructor === Object;
    if (!isOurs || response.hasHeader('Content-Type')) {
      return super.reply(response, body, statusCode);
    }
    answerJson(response, JSON.stringify(body), statusCode ?? response.statusCode);
    return response;
  }

  override close(): Promise<void> {
    return closeOrderly(this.httpServer);
  }
}

/** What the parser tells of bytes that it refuses. */
interface ParseError extends NodeJS.ErrnoException {
  rawPacket?: Buffer;
}

const REQUEST_LINE = /^([!#$%&'*+.^_`|~\w-]+) (\S+) HTTP\/1\.[01]\r?\n/;

/** Answers what Node's parser refuses, and CONNECT, which never becomes a request. */
function refuseMalformedRequests(server: Server): void {
  server.on('clientError', (error: ParseError, socket: Socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return;
    const late = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? tooLate() : undefined;
    if (leaveToRequest(socket, late)) return;
    if (isAnswered(socket)) {
      linger(socket);
      return;
    }
    if (late) {
      refuseUnlessUnread(socket, late);
      return;
    }
    const unknown = unknownMethodIn(error);
    if (unknown) {
      refuseMethod(socket, unknown.method, unknown.target, unknown.requestId);
      return;
    }
    const message =
      error.code === 'HPE_HEADER_OVERFLOW'
        ? `The headers of the request must have at most ${String(LIMITS.maxHeaderSize)} bytes in all.`
        : 'The request is not valid HTTP.';
    refuse(socket, '', new DomainError('malformed', 'malformed_json', message));
  });
  server.on('connect', (request: IncomingMessage, socket: Socket) => {
    // Node listens to it no more.
    socket.on('error', () => undefined);
    if (leaveToRequest(socket) || !socket.writable) return;
    refuseMethod(socket, 'CONNECT', request.url, request.headers['x-request-id']);
  });
}

/**
 * What cannot be read is the body of a request that a route is at work on: it gives the one answer,
 * be it that it wants the body and cannot have it, or that it looks at none.
 */
function leaveToRequest(socket: Socket, reason?: DomainError): boolean {
  const { _httpMessage: response } = socket as Socket & { _httpMessage?: ServerResponse | null };
  if (!response) return false;
  response.shouldKeepAlive = false;
  breakBody(response.req, reason);
  return true;
}

/** Whether what still comes in has its answer: another one would be taken for the next one's. */
function isAnswered(socket: Socket): boolean {
  const { parser } = socket as Socket & { parser?: { incoming?: IncomingMessage | null } | null };
  return parser?.incoming?.complete === false;
}

function tooLate(): DomainError {
  const message = 'The request did not come in whole in time.';
  return new DomainError('request_timeout', 'request_timeout', message);
}

/** After a long turn of the event loop, timers run before what has come in meanwhile is read. */
function refuseUnlessUnread(socket: Socket, late: DomainError): void {
  const readBefore = socket.bytesRead;
  setImmediate(() => {
    const isUnread = readBefore === 0 && socket.bytesRead > 0;
    if (!isUnread && socket.writable) refuse(socket, '', late);
  });
}

/** A request that is valid HTTP, but of a method that the parser does not know. */
function unknownMethodIn({ code, rawPacket }: ParseError) {
  if (code !== 'HPE_INVALID_METHOD') return undefined;
  const text = rawPacket?.toString('latin1') ?? '';
  const [, method, target = ''] = REQUEST_LINE.exec(text) ?? [];
  // A known one is that of an earlier request, which the bytes in question came with.
  if (method === undefined || METHODS.includes(method)) return undefined;
  return { method, target, requestId: /^x-request-id:[ \t]*(\S+)[ \t]*\r?$/im.exec(text)?.[1] };
}

function refuseMethod(
  socket: Socket,
  method: string,
  instance = '',
  requestId?: string | string[],
): void {
  const message = `The method ${method} is not allowed here.`;
  const error = new DomainError('method_not_allowed', 'method_not_allowed', message);
  const headers = 'Allow: GET, HEAD, POST, PUT, DELETE\r\nCache-Control: no-store\r\n';
  refuse(socket, instance, error, headers, saneRequestId(requestId));
}

function refuse(
  socket: Socket,
  instance: string,
  error: DomainError,
  headers = '',
  requestId: string = randomUUID(),
): void {
  const body = JSON.stringify(problemOf(error, { instance, requestId }));
  socket.write(
    `HTTP/1.1 ${String(STATUS_OF[error.kind])} Refused\r\n${headers}Content-Type: ${PROBLEM_TYPE}\r\n` +
      `X-Request-Id: ${requestId}\r\nX-Content-Type-Options: nosniff\r\n` +
      `Content-Length: ${String(Buffer.byteLength(body))}\r\nConnection: close\r\n\r\n${body}`,
  );
  linger(socket);
}

/**
 * A Nest application on Express as both processes use it: the routes' case counts, bodies are
 * read by the routes that want them, errors have one shape, SIGTERM closes it.
 */
export async function createHttpApplication(
  module: Type | DynamicModule,
): Promise<NestExpressApplication> {
  const app = await NestFactory.create<NestExpressApplication>(module, new HttpAdapter(), {
    bodyParser: false,
    logger: new StartLog(),
    abortOnError: false,
  });
  app.useLogger(app.get(NestLog));
  const config = app.get<Config>(CONFIG);
  app.disable('etag');
  app.disable('x-powered-by');
  app.set('query parser', 'simple');
  app.set(
    'trust proxy',
    config.TRUSTED_PROXIES.map(([address, bits]) => `${address.toString()}/${String(bits)}`),
  );
  limitConnections(app.getHttpServer(), config, app.get(Metrics));
  app.use(requestMiddleware(config));
  const tracing = app.get(Tracing);
  if (tracing.enabled) app.use(traceRequests(tracing));
  app.use(app.get(RequestLog).middleware);
  if (config.CORS_ORIGINS.length > 0) app.enableCors(corsFor(config.CORS_ORIGINS));
  app.useGlobalFilters(app.get(ProblemFilter));
  // Exit code 0 after an orderly end, instead of the signal's.
  app.enableShutdownHooks([], { useProcessExit: true });
  return app;
}
