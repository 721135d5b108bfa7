import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Agent, type Dispatcher } from 'undici';
import { Tracing } from '#libs/kernel';
import { TargetClient, type TargetAnswer, type TargetRequest } from '../domain/target-client.js';
import { addressOf, attemptErrorOf, DeadlineError } from './attempt-error.js';
import { basicCredentialsOf } from './basic-credentials.js';
import { dialledAddress, outboundConnector } from './outbound-connector.js';
import { OutboundDialer } from './outbound-dialer.js';
import { expectAnswer } from './unasked-continue.js';

/** How much of an answer's body is kept, and how long it is read for. */
const MAX_BODY_BYTES = 4_096;
const BODY_MS = 1_000;
const MAX_HEADER_BYTES = 65_536;
const MAX_KEPT_HEADER_CHARACTERS = 4_096;

/** The address that each request body was sent to: undici tells of the socket nowhere else. */
const addresses = new WeakMap<object, string>();
subscribe('undici:client:sendHeaders', (message) => {
  const { request, socket } = message as { request: { body?: unknown }; socket: Socket };
  expectAnswer(socket);
  const address = dialledAddress(socket);
  if (Buffer.isBuffer(request.body) && address !== undefined) addresses.set(request.body, address);
});

/** Calls targets with undici's `request`: connections are kept per target, redirects not followed. */
@Injectable()
export class UndiciTargetClient extends TargetClient implements OnApplicationShutdown {
  /** By time-out in whole seconds: only an agent as a whole can be told when to give up connecting. */
  private readonly agents = new Map<number, Agent>();

  constructor(
    private readonly dialer: OutboundDialer,
    private readonly tracing: Tracing,
  ) {
    super();
  }

  private agentFor(timeoutMs: number): Agent {
    const seconds = Math.ceil(timeoutMs / 1_000);
    const known = this.agents.get(seconds);
    if (known) return known;
    const agent = new Agent({
      connect: outboundConnector(this.dialer, seconds * 1_000),
      // As many connections as calls: the bound is per subscription, and several may have one host.
      pipelining: 1,
      maxHeaderSize: MAX_HEADER_BYTES,
      // Our own deadlines are exact; undici's timers are coarse.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    this.agents.set(seconds, agent);
    return agent;
  }

  post(request: TargetRequest): Promise<TargetAnswer> {
    if (!this.tracing.enabled) return this.exchange(request);
    // Not the whole URL: its path and query may hold a customer's secrets.
    const { hostname } = new URL(request.url);
    const attributes = { 'http.request.method': 'POST', 'server.address': hostname };
    return this.tracing.span({ name: 'POST', kind: 'client', attributes }, async (span) => {
      const { traceparent } = this.tracing;
      const headers = { ...request.headers, ...(traceparent !== undefined && { traceparent }) };
      const answer = await this.exchange({ ...request, headers });
      const { status, error } = answer;
      if (status !== undefined) span.set('http.response.status_code', status);
      if (error !== undefined) span.fail(error);
      else if (status !== undefined && status >= 300) span.fail(String(status));
      return answer;
    });
  }

  private async exchange(request: TargetRequest): Promise<TargetAnswer> {
    const start = performance.now();
    const body = Buffer.from(request.body);
    const facts = (failure?: unknown): Pick<TargetAnswer, 'durationMs' | 'address'> => {
      const address = addresses.get(body) ?? addressOf(failure);
      return { durationMs: performance.now() - start, ...(address !== undefined && { address }) };
    };
    try {
      const answer = await this.send(request, body);
      const { durationMs, address } = facts();
      return {
        status: answer.statusCode,
        durationMs,
        ...(address !== undefined && { address }),
        responseHeaders: keptHeaders(answer.headers),
        ...(await readBody(answer.body)),
      };
    } catch (error) {
      return { ...facts(error), error: attemptErrorOf(error), truncated: false };
    }
  }

  /** @throws DeadlineError, and whatever undici throws */
  private send(request: TargetRequest, body: Buffer): Promise<Dispatcher.ResponseData> {
    const { url, headers, timeoutMs } = request;
    const credentials = basicCredentialsOf(url);
    const deadline = new AbortController();
    return new Promise((resolve, reject) => {
      // Both: undici does not look at the signal before it is connected; then it sends nothing.
      const giveUp = (): void => {
        reject(new DeadlineError());
        deadline.abort();
      };
      // Sockets are read after timers: where the process itself was late, the answer may lie there,
      // and a target that has answered would be called again.
      const timer = setTimeout(() => setImmediate(giveUp), timeoutMs);
      this.agentFor(timeoutMs)
        .request({
          ...destinationOf(url),
          method: 'POST',
          headers: { ...headers, ...(credentials !== undefined && { authorization: credentials }) },
          body,
          signal: deadline.signal,
        })
        .finally(() => clearTimeout(timer))
        .then(resolve, reject);
    });
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([...this.agents.values()].map((agent) => agent.destroy()));
  }
}

function destinationOf(url: string): { origin: string; path: string } {
  const { origin, pathname, search } = new URL(url);
  return { origin, path: pathname + search };
}

/** The first headers of the answer, as many as are kept; Retry-After, which we obey, among them. */
function keptHeaders(headers: Record<string, string | string[] | undefined>) {
  const kept: Record<string, string | string[]> = {};
  let room = MAX_KEPT_HEADER_CHARACTERS;
  const { 'retry-after': retryAfter, ...others } = headers;
  for (const [name, value] of Object.entries({ 'retry-after': retryAfter, ...others })) {
    if (value === undefined) continue;
    room -= name.length + String(value).length;
    if (room < 0) break;
    kept[name] = value;
  }
  return kept;
}

async function readBody(
  body: Dispatcher.ResponseData['body'],
): Promise<{ responseBody?: string; truncated: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  let truncated = false;
  const timer = setTimeout(() => {
    truncated = true;
    body.destroy();
  }, BODY_MS);
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      const room = MAX_BODY_BYTES - size;
      chunks.push(chunk.subarray(0, room));
      size += Math.min(chunk.length, room);
      if (chunk.length > room) {
        truncated = true;
        break;
      }
    }
  } catch {
    // The answer broke off; what came of it is kept, and its status counts.
    truncated = true;
  } finally {
    clearTimeout(timer);
  }
  if (size === 0) return { truncated };
  // PostgreSQL cannot store U+0000.
  return {
    responseBody: Buffer.concat(chunks).toString('utf8').replaceAll('\0', '\ufffd'),
    truncated,
  };
}
