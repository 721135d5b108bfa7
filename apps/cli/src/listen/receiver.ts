import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { finished } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';
import { CommandFailure } from '../failure.js';
import type { Arrival } from './notification-text.js';
import type { SignatureCheck } from './signature-check.js';

const TIMEOUT_MS = 30_000;
/** Headers of a single connection (RFC 9110, section 7.6.1), and headers that depend on the body and the target. */
const OF_CONNECTION =
  /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|host|content-length|expect)$/;

/** Posts a notification to a web application. @returns its status, or why there is none */
export async function forward(
  url: URL,
  headers: NodeJS.Dict<string | string[]>,
  body: Buffer | string,
): Promise<number | string> {
  const passed = Object.entries(headers).filter(([name]) => !OF_CONNECTION.test(name));
  try {
    const answer = await request(url, {
      method: 'POST',
      headers: Object.fromEntries(passed) as Record<string, string | string[]>,
      body,
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: TIMEOUT_MS,
    });
    await answer.body.dump();
    return answer.statusCode;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code ?? message;
  }
}

/** The recommended answer to a notification that is not genuine. */
const BAD_REQUEST = 400;
const FAILING = 503;
const METHOD_NOT_ALLOWED = 405;
const UNREACHABLE = 502;

/** How notifications are answered. */
export interface Answers {
  status: number;
  /** How many notifications are answered with 503 first. */
  failFirst: number;
  /** The `Retry-After` of answers other than 2xx, in seconds. */
  retryAfter: number | undefined;
  delayMs: number;
  /** The web application that answers instead. */
  forwardTo: URL | undefined;
}

/** A web application that receives notifications, prints them and answers as configured. */
export class Receiver {
  private readonly server: Server;
  private readonly stopping = new AbortController();
  private received = 0;

  /** @param print called for every request, after the answer */
  constructor(
    private readonly signatures: SignatureCheck,
    private readonly answers: Answers,
    private readonly print: (arrival: Arrival) => void,
  ) {
    this.server = createServer((request, response) => {
      void this.receive(request, response);
    });
  }

  /**
   * @returns the port, which the system chooses for 0
   * @throws CommandFailure
   */
  async listen(port: number, host: string): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', (error: NodeJS.ErrnoException) => {
        const why =
          error.code === 'EADDRINUSE' ? 'is in use' : `cannot be listened on (${error.code ?? ''})`;
        reject(new CommandFailure(`Port ${port} on ${host} ${why}.`));
      });
      this.server.listen(port, host, resolve);
    });
    return (this.server.address() as AddressInfo).port;
  }

  /** Stops answering; resolves when every connection is closed. */
  async close(): Promise<void> {
    this.stopping.abort();
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeAllConnections();
    await closed;
  }

  /** Never rejects: it prints a failure as the outcome. */
  private async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== 'POST') {
      // From a browser, or from a script that waits for the start. It does not count for failFirst.
      response.writeHead(METHOD_NOT_ALLOWED, { Allow: 'POST' }).end();
      const what = `${request.method ?? ''} ${request.url ?? ''}`;
      this.print({ request: what, outcome: 'is not a notification' });
      return;
    }
    const path = `POST ${request.url ?? ''}`;
    let body: Buffer;
    try {
      body = await buffer(request);
    } catch {
      this.print({ request: path, outcome: 'was interrupted' });
      return;
    }
    const { verdict, isRefused } = this.signatures.judge(request.headers, body);
    const answer = isRefused ? BAD_REQUEST : await this.answerTo(request, body);
    const status = typeof answer === 'number' ? answer : UNREACHABLE;
    const isAnswered = await this.answer(response, status);
    if (this.stopping.signal.aborted) return;
    const why = typeof answer === 'number' ? '' : ` (${answer})`;
    const outcome = isAnswered
      ? `answered ${status}${why}`
      : 'not answered: the caller has disconnected';
    this.print({ request: path, verdict, outcome, headers: request.headers, body });
  }

  /** @returns a status, or why the web application could not be asked for one */
  private answerTo(request: IncomingMessage, body: Buffer): Promise<number | string> | number {
    const { forwardTo, failFirst, status } = this.answers;
    if (forwardTo) return forward(forwardTo, request.headers, body);
    return this.received++ < failFirst ? FAILING : status;
  }

  /** @returns false if the caller did not wait for the answer */
  private async answer(response: ServerResponse, status: number): Promise<boolean> {
    try {
      await Promise.all([this.send(response, status), finished(response)]);
      return true;
    } catch {
      return false;
    }
  }

  private async send(response: ServerResponse, status: number): Promise<void> {
    const { retryAfter, delayMs } = this.answers;
    await delay(delayMs, undefined, { signal: this.stopping.signal });
    if (retryAfter !== undefined && status >= 300) response.setHeader('Retry-After', retryAfter);
    response.writeHead(status).end();
  }
}
