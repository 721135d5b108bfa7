import cluster from 'node:cluster';
import { randomUUID } from 'node:crypto';
import {
  createServer,
  type IncomingMessage,
  METHODS,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import { type DynamicModule, Global, Module, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter, type NestExpressApplication } from '@nestjs/platform-express';
import type { Express, Response } from 'express';
import { DomainError } from '#libs/kernel';
import {
  CONFIG,
  type Config,
  Metrics,
  MetricsServer,
  NestLog,
  type StartLog,
  STOP_SIGNALS,
} from '#libs/runtime';
import {
  currentAnswerOf,
  isAnsweredEarly,
  limitConnections,
  limitPipeline,
  LIMITS,
  timeoutError,
} from './connection-limits.js';
import { leaveContinueToRoutes, messagesFor } from './http-messages.js';
import { corsFor } from './browsers.js';
import { readForwardedFor, requestMiddleware, saneRequestId } from './request.middleware.js';
import { InFlight } from './in-flight.js';
import { closeLingering, closeOrderly, isEnding, linger } from './connection-close.js';
import { Answer, answerJson } from './answer.js';
import { ProblemFilter, Refusals } from './problem.filter.js';
import { malformed, PROBLEM_TYPE, problemOf, STATUS_OF } from './problem.js';
import { parseQuery } from './query.js';
import { breakBody } from './read-body.js';
import { RequestTelemetry } from './request-telemetry.js';

/** Enough for a busy proxy to use each of its idle connections once more. */
const MOST_IDLE_MS = 500;

/** Express on a server that answers even malformed requests with our error format. */
class HttpAdapter extends ExpressAdapter {
  /** How much longer than the others idle connections stay open when the server closes. */
  idleMs = 0;

  override initHttpServer(): void {
    const handle = this.getInstance<Express>();
    // The setting "case sensitive routing" would be too late: Nest has already created the router.
    (handle.router as unknown as { caseSensitive: boolean }).caseSensitive = true;
    // HTTP/1.0 clients send no Host header, so it is not required.
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
    // Node keeps an address that was read once. The audit needs it even after the client has disconnected.
    server.on('connection', (socket) => socket.remoteAddress);
    server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
      server.emit('request', request, response);
    });
    leaveContinueToRoutes(server);
    closeLingering(server);
    refuseMalformedRequests(server);
    this.httpServer = server;
  }

  /**
   * Writes the result of a handler as JSON. Express would first check its type, its charset and whether the
   * client has it cached: 4 % of the time that an event takes here. An {@link Answer} sends itself.
   */
  override reply(response: Response, body: unknown, statusCode?: number): unknown {
    if (body instanceof Answer) {
      return body.send(response.req, response, statusCode ?? response.statusCode);
    }
    const isOurs = typeof body === 'object' && body?.constructor === Object;
    if (!isOurs || response.hasHeader('Content-Type')) {
      return super.reply(response, body, statusCode);
    }
    answerJson(response, JSON.stringify(body), statusCode ?? response.statusCode);
    return response;
  }

  override close(): Promise<void> {
    return closeOrderly(this.httpServer, this.idleMs);
  }
}

/** The parser's error for bytes that it refuses. */
interface ParseError extends NodeJS.ErrnoException {
  rawPacket?: Buffer;
}

const REQUEST_LINE = /^([!#$%&'*+.^_`|~\w-]+) (\S+) HTTP\/1\.[01]\r?\n/;

/** Answers requests that Node's parser refuses, and CONNECT, which never reaches a handler. */
function refuseMalformedRequests(server: Server): void {
  server.on('clientError', (error: ParseError, socket: Socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return;
    const timeout = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? timeoutError() : undefined;
    if (leaveToHandler(socket, timeout)) return;
    // A second answer would be taken for the next one's.
    if (isAnsweredEarly(socket)) {
      linger(socket);
      return;
    }
    if (timeout) {
      refuseUnlessUnread(socket, timeout);
      return;
    }
    const unknown = unknownMethodIn(error);
    if (unknown) {
      refuseMethod(socket, unknown.method, unknown.target, unknown.requestId);
      return;
    }
    const message =
      error.code === 'HPE_HEADER_OVERFLOW'
        ? `The target and the headers of the request must have at most ${String(LIMITS.maxHeaderSize)} bytes in all.`
        : 'The request is not valid HTTP.';
    refuse(socket, '', malformed(message));
  });
  server.on('connect', (request: IncomingMessage, socket: Socket) => {
    // Node has removed its own listeners.
    socket.on('error', () => undefined);
    if (leaveToHandler(socket) || !socket.writable) return;
    refuseMethod(socket, 'CONNECT', request.url, request.headers['x-request-id']);
  });
}

/**
 * If the unreadable bytes belong to the body of a request that a route is handling, the route gives the only
 * answer, whether or not it reads the body.
 */
function leaveToHandler(socket: Socket, reason?: DomainError): boolean {
  const response = currentAnswerOf(socket);
  if (!response) return false;
  response.shouldKeepAlive = false;
  breakBody(response.req, reason);
  return true;
}

/** After the event loop was blocked, timers run before the data that has arrived meanwhile is read. */
function refuseUnlessUnread(socket: Socket, timeout: DomainError): void {
  const readBefore = socket.bytesRead;
  setImmediate(() => {
    const isUnread = readBefore === 0 && socket.bytesRead > 0;
    if (!isUnread && socket.writable) refuse(socket, '', timeout);
  });
}

/** Finds a request that is valid HTTP, but has a method that the parser does not know. */
function unknownMethodIn({ code, rawPacket }: ParseError) {
  if (code !== 'HPE_INVALID_METHOD') return undefined;
  const text = rawPacket?.toString('latin1') ?? '';
  const [, method, target = ''] = REQUEST_LINE.exec(text) ?? [];
  // A known method belongs to an earlier request in the same packet.
  if (method === undefined || METHODS.includes(method)) return undefined;
  return { method, target, requestId: /^x-request-id:[ \t]*(\S+)[ \t]*\r?$/im.exec(text)?.[1] };
}

/** How much of a method an error shows. */
const MAX_METHOD = 40;

function refuseMethod(
  socket: Socket,
  method: string,
  instance = '',
  requestId?: string | string[],
): void {
  const message = `The method ${method.slice(0, MAX_METHOD)} is not allowed here.`;
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
 * The Nest application on Express that both processes use: paths are case-sensitive, routes read their own
 * bodies, all errors have one format, and SIGTERM closes it.
 * @param startLog for what happens before the process's own log exists
 */
export async function createHttpApplication(
  module: Type | DynamicModule,
  startLog?: StartLog,
): Promise<NestExpressApplication> {
  const adapter = new HttpAdapter();
  const app = await NestFactory.create<NestExpressApplication>(module, adapter, {
    bodyParser: false,
    logger: startLog ?? false,
    abortOnError: false,
  });
  app.useLogger(app.get(NestLog));
  const config = app.get<Config>(CONFIG);
  adapter.idleMs = Math.min(config.SHUTDOWN_DELAY_MS, MOST_IDLE_MS);
  app.disable('etag');
  app.disable('x-powered-by');
  app.set('query parser', parseQuery);
  app.set(
    'trust proxy',
    config.TRUSTED_PROXIES.map(([address, bits]) => `${address.toString()}/${String(bits)}`),
  );
  const express = app.getHttpAdapter().getInstance();
  const isProxy = express.get('trust proxy fn') as (address: string) => boolean;
  const dropped = app
    .get(Metrics)
    .counter(
      'switchhook_dropped_connections_total',
      'Client connections dropped because of MAX_CONNECTIONS, or of the memory of those without credentials.',
    );
  limitConnections(app.getHttpServer(), config, isProxy, () => dropped.inc());
  // First, because whatever fails after it looks at the client's address.
  if (config.TRUSTED_PROXIES.length > 0) app.use(readForwardedFor);
  app.use(requestMiddleware(config, app.getHttpServer()));
  app.use(app.get(RequestTelemetry).middleware);
  if (config.CORS_ORIGINS.length > 0) app.enableCors(corsFor(config.CORS_ORIGINS));
  app.useGlobalFilters(app.get(ProblemFilter));
  // After an orderly shutdown the exit code is 0, not the signal's.
  app.enableShutdownHooks(cluster.isWorker ? [...STOP_SIGNALS] : [], { useProcessExit: true });
  return app;
}

/** The providers that `createHttpApplication` needs. */
@Global()
@Module({
  providers: [InFlight, ProblemFilter, Refusals, RequestTelemetry, MetricsServer],
  exports: [InFlight, ProblemFilter, RequestTelemetry],
})
export class HttpModule {}
